package process

import (
	"bufio"
	"debug/elf"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// vdsoGetrandom looks for the symbol in the image that the kernel maps into every
// process (vdso(7)). Its name differs by architecture.
func vdsoGetrandom() VDSO {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return VDSOUnknown
	}
	defer maps.Close()
	from, to, ok := findVDSO(maps)
	if !ok {
		return VDSOUnknown
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		return VDSOUnknown
	}
	defer memory.Close()
	return hasGetrandom(io.NewSectionReader(memory, from, to-from))
}

// findVDSO returns the range of the vDSO in a list of maps (proc_pid_maps(5)).
func findVDSO(maps io.Reader) (from, to int64, ok bool) {
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) != 6 || fields[5] != "[vdso]" {
			continue
		}
		low, high, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseInt(low, 16, 64)
		if err != nil {
			return 0, 0, false
		}
		to, err := strconv.ParseInt(high, 16, 64)
		return from, to, err == nil && from < to
	}
	return 0, 0, false
}

// hasGetrandom looks for the symbol in an image.
func hasGetrandom(image io.ReaderAt) VDSO {
	f, err := elf.NewFile(image)
	if err != nil {
		return VDSOUnknown
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return VDSOUnknown
	}
	for _, s := range symbols {
		if s.Name == "__vdso_getrandom" || s.Name == "__kernel_getrandom" {
			return VDSOYes
		}
	}
	return VDSONo
}
