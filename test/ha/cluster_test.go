package ha

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"shuffled/internal/testdb"
)

const password = "test-only"

// cluster is three members of etcd, three nodes, HAProxy, which connects to the leader, and
// PgBouncer, which connects to HAProxy.
type cluster struct {
	t        testing.TB
	dir      string
	as       *syscall.Credential
	bin      string // the directory of PostgreSQL's programs
	etcd     []*spawned
	etcdArgs [][]string
	clients  []int // the ports at which etcd's members serve clients
	nodes    []*node
	pooler   int // the port of PgBouncer
}

// node is a PostgreSQL server and its Patroni.
type node struct {
	c          *cluster
	name, data string
	patroni    *spawned
	rest       int
	port       int      // of the relay to the server
	relays     []*relay // one to the server, and one from Patroni to each member of etcd
}

// needed checks that the programs are in PATH or /usr/sbin. If one is missing, the test is
// skipped, or fails if SHUFFLED_REQUIRE_HA=1.
func needed(t *testing.T) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	for _, name := range []string{"patroni", "patronictl", "etcd", "haproxy", "pgbouncer"} {
		if _, err := exec.LookPath(name); err != nil {
			if required() {
				t.Fatalf("no %s: run scripts/ha.sh", name)
			}
			t.Skipf("no %s: run scripts/ha.sh", name)
		}
	}
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	needed(t)
	initdb, err := testdb.Bin("initdb")
	must(t, err)
	dir, err := os.MkdirTemp("/tmp", "shuffled-ha-")
	must(t, err)
	c := &cluster{t: t, dir: dir, as: serverUser(t), bin: filepath.Dir(initdb)}
	if c.as != nil {
		must(t, os.Chown(dir, int(c.as.Uid), int(c.as.Gid)))
	}
	watch(t, dir)
	t.Cleanup(func() {
		if t.Failed() {
			c.tell()
		}
	})
	c.startEtcd()
	for i := range 3 {
		c.nodes = append(c.nodes, c.newNode(i+1))
	}
	until(t, "a leader with two standbys, of which one is synchronous", func() bool {
		l := c.leader()
		return l != nil && len(c.streaming(l)) == 2 && c.synchronous() == 1
	})
	c.startPooler()
	return c
}

// tell prints the end of each log.
func (c *cluster) tell() {
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		c.t.Logf("%s:\n%s", filepath.Base(path), text[max(0, len(text)-6000):])
	}
}

func (c *cluster) write(name, text string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	must(c.t, os.WriteFile(path, []byte(text), 0o600))
	if c.as != nil {
		must(c.t, os.Chown(path, int(c.as.Uid), int(c.as.Gid)))
	}
	return path
}

func (c *cluster) startEtcd() {
	free := ports(c.t, 6)
	var members []string
	for i := range 3 {
		members = append(members, fmt.Sprintf("e%d=http://127.0.0.1:%d", i+1, free[i]))
	}
	for i := range 3 {
		peer, client := fmt.Sprintf("http://127.0.0.1:%d", free[i]), fmt.Sprintf("http://127.0.0.1:%d", free[i+3])
		c.clients = append(c.clients, free[i+3])
		c.etcdArgs = append(c.etcdArgs, []string{"--name", fmt.Sprintf("e%d", i+1), "--data-dir",
			filepath.Join(c.dir, fmt.Sprintf("etcd%d", i+1)), "--listen-peer-urls", peer,
			"--initial-advertise-peer-urls", peer, "--listen-client-urls", client, "--advertise-client-urls", client,
			"--initial-cluster", strings.Join(members, ","), "--log-level", "warn", "--heartbeat-interval", "200",
			"--election-timeout", "2000"})
		c.etcd = append(c.etcd, nil)
		c.startMember(i)
	}
	// Patroni 3.0 exits if the members have not agreed on a version yet.
	until(c.t, "etcd", func() bool {
		resp, err := rest.Get(fmt.Sprintf("http://127.0.0.1:%d/version", c.clients[0]))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return err == nil && !strings.Contains(string(text), "not_decided")
	})
}

func (c *cluster) startMember(i int) {
	c.etcd[i] = c.spawn(fmt.Sprintf("etcd%d", i+1), "etcd", c.etcdArgs[i]...)
}

// newNode starts a node with the configuration of docs/operations/availability.md.
func (c *cluster) newNode(i int) *node {
	free := ports(c.t, 2)
	n := &node{c: c, name: fmt.Sprintf("db%d", i), rest: free[1], data: filepath.Join(c.dir, fmt.Sprintf("db%d", i))}
	toServer, port := relayTo(c.t, free[0])
	n.port, n.relays = port, []*relay{toServer}
	var hosts []string
	for _, member := range c.clients {
		r, p := relayTo(c.t, member)
		n.relays = append(n.relays, r)
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", p))
	}
	c.write(n.name+".yml", fmt.Sprintf(`scope: ha
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd3: {hosts: [%[3]s], use_proxies: true} # or it asks the members by their own addresses
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 3
    retry_timeout: 5
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: false
      parameters: {fsync: "on", full_page_writes: "on", synchronous_commit: "on", wal_log_hints: "on",
        shared_buffers: 16MB, max_connections: 100}
  initdb: [{encoding: UTF8}, data-checksums]
  pg_hba: ["host all all 127.0.0.1/32 scram-sha-256", "host replication all 127.0.0.1/32 scram-sha-256"]
postgresql:
  listen: 127.0.0.1:%[4]d
  connect_address: 127.0.0.1:%[5]d
  data_dir: %[6]s
  bin_dir: %[7]s
  pgpass: %[6]s.pgpass
  basebackup: [checkpoint: fast] # or a copy waits for minutes, while hands are played
  authentication:
    superuser: {username: postgres, password: %[8]s}
    replication: {username: replicator, password: %[8]s}
  parameters: {unix_socket_directories: "%[9]s", password_encryption: scram-sha-256}
`, n.name, n.rest, strings.Join(hosts, ", "), free[0], port, n.data, c.bin, password, c.dir))
	n.start()
	return n
}

func (n *node) start() {
	n.patroni = n.c.spawn(n.name, "patroni", filepath.Join(n.c.dir, n.name+".yml"))
}

// kill ends Patroni and the server with SIGKILL, as a loss of power would, and waits for
// their end.
func (n *node) kill() {
	pids := n.server()
	n.patroni.kill()
	for _, pid := range pids {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	until(n.c.t, n.name+" to end", func() bool { return len(n.server()) == 0 })
}

// cut closes the node's relays, which separates it from the other nodes and from etcd, or
// opens them again.
func (n *node) cut(cut bool) {
	for _, r := range n.relays {
		r.set(cut)
	}
}

var rest = &http.Client{Timeout: 3 * time.Second}

// is reports whether the node's Patroni says that the node is primary, replica or sync.
func (n *node) is(what string) bool {
	resp, err := rest.Get(fmt.Sprintf("http://127.0.0.1:%d/%s", n.rest, what))
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// leader returns the node that leads, nil if none does.
func (c *cluster) leader() *node {
	for _, n := range c.nodes {
		if n.is("primary") {
			return n
		}
	}
	return nil
}

// others returns all nodes except one.
func (c *cluster) others(not *node) (all []*node) {
	for _, n := range c.nodes {
		if n != not {
			all = append(all, n)
		}
	}
	return all
}

// dsn returns the address of the ledger's database, with all nodes as hosts.
func (c *cluster) dsn(role string) string {
	var hosts []string
	for _, n := range c.nodes {
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", n.port))
	}
	return fmt.Sprintf("postgres://%s@%s/shuffled?target_session_attrs=read-write&connect_timeout=3", role,
		strings.Join(hosts, ","))
}

// standbys leaves out pg_basebackup, which also streams while it copies.
const standbys = "AND application_name LIKE 'db_'"

// synchronous returns how many synchronous standbys the leader has, 0 if no node leads.
func (c *cluster) synchronous() (n int) {
	l := c.leader()
	if l == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres", password, l.port))
	if err != nil {
		return 0
	}
	defer conn.Close(context.Background())
	conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') "+standbys).Scan(&n)
	return n
}

// size returns the size of the ledger's database in bytes, 0 if no node leads.
func (c *cluster) size() (n int64) {
	l := c.leader()
	if l == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/shuffled", password, l.port))
	if err != nil {
		return 0
	}
	defer conn.Close(context.Background())
	conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&n)
	return n
}

// ctl runs patronictl, and returns its output, with the error if it failed.
func (c *cluster) ctl(args ...string) string {
	cmd := exec.Command("patronictl", append([]string{"-c", filepath.Join(c.dir, c.nodes[0].name+".yml")}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+c.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s: %v", out, err)
	}
	return string(out)
}

// whole waits until there are a leader and two standbys that stream. It copies the leader
// anew to a standby that does not stream (patronictl reinit), as the page for operators says.
func (c *cluster) whole() {
	c.t.Helper()
	m := newMending()
	until(c.t, "a leader and two standbys that stream", func() bool {
		l := c.leader()
		return l != nil && m.mend(l, false) == 2 && c.synchronous() == 1
	})
}

// mending does what an operator would do: it reinitialises a standby that has not streamed for
// some time.
type mending struct {
	began time.Time
	made  map[*node]time.Time
}

func newMending() *mending { return &mending{time.Now(), map[*node]time.Time{}} }

// mend reinitialises each standby that does not stream from the leader, with running only those
// whose Patroni says that the server runs as a replica. It returns how many stream. It waits 20 s
// before it begins, and 30 s before it does so to the same node again.
func (m *mending) mend(l *node, running bool) int {
	c := l.c
	streams := c.streaming(l)
	for _, n := range c.others(l) {
		if !streams[n.name] && (!running || n.is("replica")) && time.Since(m.began) > 20*time.Second &&
			time.Since(m.made[n]) > 30*time.Second {
			m.made[n] = time.Now()
			c.t.Logf("reinit %s: %s", n.name, strings.TrimSpace(c.ctl("reinit", "ha", n.name, "--force")))
		}
	}
	return len(streams)
}

// streaming returns the names of the standbys that stream from the leader.
func (c *cluster) streaming(l *node) map[string]bool {
	all := map[string]bool{}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/postgres", password, l.port))
	if err != nil {
		return all
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(ctx, "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming' "+standbys)
	if err != nil {
		return all
	}
	names, _ := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, name := range names {
		all[name] = true
	}
	return all
}

// startPooler starts HAProxy, which asks each Patroni whether its node leads, and PgBouncer.
func (c *cluster) startPooler() {
	free := ports(c.t, 2)
	text := fmt.Sprintf(`global
  maxconn 400
defaults
  mode tcp
  timeout connect 2s
  timeout client 60m
  timeout server 60m
  timeout check 2s
listen primary
  bind 127.0.0.1:%d
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
`, free[0])
	for _, n := range c.nodes {
		text += fmt.Sprintf("  server %s 127.0.0.1:%d check port %d\n", n.name, n.port, n.rest)
	}
	c.spawn("haproxy", "haproxy", "-f", c.write("haproxy.cfg", text))
	c.pooler = free[1]
	users := c.write("users", fmt.Sprintf("\"shuffled_writer\" %q\n", password))
	c.spawn("pgbouncer", "pgbouncer", c.write("pgbouncer.ini", fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = scram-sha-256
auth_file = %s
pool_mode = transaction
max_client_conn = 200
query_wait_timeout = 5
server_lifetime = 300
server_login_retry = 1
`, free[0], c.pooler, users)))
}
