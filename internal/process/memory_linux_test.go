package process

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// childVariable has the test binary be a child, which does what the value says.
const childVariable = "SHUFFLED_PROCESS_CHILD"

// childAnswer is what a child saw.
type childAnswer struct {
	Locked    Locked
	VmLck     int // KiB, afterwards
	VmRSS     int // KiB, afterwards
	Dumpable  int
	CoreLimit unix.Rlimit
	Error     string
}

func TestMain(m *testing.M) {
	if as := os.Getenv(childVariable); as != "" {
		json.NewEncoder(os.Stdout).Encode(beChild(as))
		return
	}
	os.Exit(m.Run())
}

// beChild lowers what the child may, locks, and then does what would end the process
// if a later mmap failed: it makes the heap grow and shrink and starts threads.
func beChild(as string) (a childAnswer) {
	limits := map[string]unix.Rlimit{
		"8MiB": {Cur: 8 << 20, Max: 8 << 20}, "8MiB, capable": {Cur: 8 << 20, Max: 8 << 20},
		"soft 8MiB": {Cur: 8 << 20, Max: unix.RLIM_INFINITY},
		"unlimited": {Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY},
		"1TiB":      {Cur: 1 << 40, Max: 1 << 40},
	}
	limit := limits[as]
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		a.Error = err.Error()
		return a
	}
	if os.Geteuid() == 0 && as != "8MiB, capable" {
		if err := syscall.Setuid(65534); err != nil { // and with it all capabilities
			a.Error = err.Error()
			return a
		}
	}
	if err := NoDumps(); err != nil {
		a.Error = err.Error()
		return a
	}
	a.Locked = Lock()
	for range 3 {
		useMemory()
		debug.FreeOSMemory()
	}
	a.VmLck, a.VmRSS = statusKiB("VmLck:"), statusKiB("VmRSS:")
	a.Dumpable, _ = unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	unix.Getrlimit(unix.RLIMIT_CORE, &a.CoreLimit)
	return a
}

// useMemory makes the heap 256 MiB larger and starts threads that draw bytes, each of which takes mappings of its own.
func useMemory() {
	big := make([][]byte, 256)
	for i := range big {
		big[i] = make([]byte, 1<<20)
		for at := 0; at < len(big[i]); at += 4096 {
			big[i][at] = 1
		}
	}
	var threads sync.WaitGroup
	for range 64 {
		threads.Go(func() {
			runtime.LockOSThread() // and the thread ends with the goroutine
			rand.Read(make([]byte, 48))
		})
	}
	threads.Wait()
	runtime.KeepAlive(big)
}

func statusKiB(name string) int {
	text, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), name)
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(line, "kB")))
	if err != nil {
		return -1
	}
	return n
}

func child(t *testing.T, as string) childAnswer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+as)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("a child with %s did not live: %v\n%.2000s", as, err, out)
	}
	var a childAnswer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s: %+v", as, a)
	return a
}

// TestLock wants the memory locked as far as the limit allows, what holds said, and a
// process that lives on whatever the limit is. Only children are locked.
func TestLock(t *testing.T) {
	type want struct{ all, now bool }
	for as, want := range map[string]want{
		"8MiB": {}, "soft 8MiB": {true, true}, "unlimited": {true, true}, "1TiB": {false, true},
		"8MiB, capable": {true, true},
	} {
		t.Run(as, func(t *testing.T) {
			if os.Geteuid() != 0 && strings.HasSuffix(as, "capable") {
				t.Skip("only root is capable")
			}
			a := child(t, as)
			if a.Error == unix.EPERM.Error() {
				t.Skip("the limit cannot be raised here")
			}
			if a.Error != "" {
				t.Fatal(a.Error)
			}
			if a.Locked.All != want.all || a.Locked.Now != want.now || a.Locked.Note == "" {
				t.Errorf("locked: %+v", a.Locked)
			}
			if locked := a.VmLck > 1024; locked != want.now {
				t.Errorf("the kernel says that %d KiB are locked", a.VmLck)
			}
			if a.VmRSS > 128<<10 {
				t.Errorf("%d KiB are in use: what the heap gave back stays locked", a.VmRSS)
			}
			if !want.all && !strings.Contains(a.Locked.Note, "LimitMEMLOCK=infinity") {
				t.Errorf("the cure is not named: %s", a.Locked.Note)
			}
			if a.Dumpable != 0 || a.CoreLimit != (unix.Rlimit{}) {
				t.Errorf("dumpable %d, core limit %+v", a.Dumpable, a.CoreLimit)
			}
		})
	}
}

// TestPlatform wants the facts, and the symbol found in the image that the kernel
// mapped here exactly when a kernel of its release has it.
func TestPlatform(t *testing.T) {
	f := Platform()
	if f.Kernel == "" || strings.ContainsAny(f.Kernel, "\x00\n") {
		t.Errorf("kernel %q", f.Kernel)
	}
	var major, minor int
	for i, part := range strings.SplitN(f.Kernel, ".", 3)[:2] {
		n, err := strconv.Atoi(part)
		if err != nil {
			t.Skipf("kernel %q", f.Kernel)
		}
		*[]*int{&major, &minor}[i] = n
	}
	if runtime.GOARCH != "amd64" {
		t.Skipf("when %s got it is not in this test", runtime.GOARCH)
	}
	want := VDSONo
	if major > 6 || major == 6 && minor >= 11 {
		want = VDSOYes
	}
	if f.VDSO != want {
		t.Errorf("getrandom in the vDSO of Linux %s: %s, not %s", f.Kernel, f.VDSO, want)
	}
}

func TestFindVDSO(t *testing.T) {
	const maps = "7ffd0000-7ffd2000 r--p 00000000 00:00 0                          [vvar]\n" +
		"7ffd2000-7ffd4000 r-xp 00000000 00:00 0                          [vdso]\n"
	from, to, ok := findVDSO(strings.NewReader(maps))
	if !ok || from != 0x7ffd2000 || to != 0x7ffd4000 {
		t.Errorf("%x-%x, %t", from, to, ok)
	}
	for _, bad := range []string{"", "x-7ffd4000 r-xp 0 0 0 [vdso]\n", "7ffd4000-7ffd2000 r-xp 0 0 0 [vdso]\n",
		"7ffd2000 r-xp 0 0 0 [vdso]\n"} {
		if _, _, ok := findVDSO(strings.NewReader(bad)); ok {
			t.Errorf("found in %q", bad)
		}
	}
	if got := hasGetrandom(strings.NewReader("no image")); got != VDSOUnknown {
		t.Errorf("no image: %s", got)
	}
}
