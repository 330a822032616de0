// Package config is the daemon's configuration: one struct, one TOML file, one place for defaults. It opens no file
// except the configuration itself.
//
// An unknown key is an error with its line, because a misspelt limit is no limit. The file has no secrets, only the
// paths of their files. configs/shuffled.example.toml has every setting with its default and its danger.
package config

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// Config holds every setting. Relative paths are relative to the working directory. Default has the defaults that the
// comments state.
type Config struct {
	// Listen is the address of the API and the log. Default 127.0.0.1:8080.
	Listen string `toml:"listen"`
	// OperatorListen is the address of /healthz, /readyz and /metrics, which have no access control. If it is empty,
	// they are not served. Default 127.0.0.1:9090.
	OperatorListen string `toml:"operator_listen"`
	// OperatorHosts are the names, besides localhost and IP addresses, under which OperatorListen is reached. Default
	// none.
	OperatorHosts []string `toml:"operator_hosts"`
	// Data is the directory of the high-water marks, and of all files whose paths are not set. Default ./shuffled-data.
	Data string `toml:"data"`
	// Database is postgres://… without a password, or sqlite:PATH. Default sqlite:DATA/shuffled.db.
	Database string `toml:"database"`
	// DatabasePasswordFile has the password of a postgres:// database. Default none.
	DatabasePasswordFile string `toml:"database_password_file"`
	// DatabasePooler says that a pooler in transaction mode stands before a postgres:// database. Default false.
	DatabasePooler bool `toml:"database_pooler"`
	// SealingKeys are key files: first the current key, then older ones under which tapes of open shuffles are sealed.
	// Default DATA/sealing.key.
	SealingKeys []string `toml:"sealing_keys"`
	// PassphraseFile has the passphrase of encrypted key files. Default none.
	PassphraseFile string `toml:"passphrase_file"`
	// ClockStep is how far the clock may step before entries are refused; 100ms to 1h, default 5s.
	ClockStep Duration `toml:"clock_step"`
	// MarkSync is how often the high-water mark is synced; 1ms to 1s, default 1s.
	MarkSync Duration `toml:"mark_sync"`
	// DisclosureRotation is the age of the disclosure key at which a commit for auditors makes a new one; 1m to 8760h,
	// default 24h.
	DisclosureRotation Duration `toml:"disclosure_rotation"`
	// ShutdownDelay is how long a daemon that was told to stop still serves requests, while /readyz says that it stops;
	// 0 to 60s, default 0.
	ShutdownDelay Duration `toml:"shutdown_delay"`
	// MemoryLimit is the memory below which the garbage collector tries to stay; from 64MiB, or 0B, the default, for
	// 9/10 of the memory of the cgroup or the machine.
	MemoryLimit Size `toml:"memory_limit"`
	// Statistics is what happens when outcomes are improbable: warn, the default, or halt, which also sets the entropy
	// latch.
	Statistics string `toml:"statistics"`
	// Retention is how long recall lists a closed shuffle after its commit; 1h to 876000h, or 0, the default, for ever.
	// Evidence is always kept for ever.
	Retention Duration `toml:"retention"`
	// AccessRetention is how long shuffled retention run keeps access records; 1h to 876000h, or 0, the default, for
	// ever.
	AccessRetention Duration `toml:"access_retention"`

	Log     Log     `toml:"log"`
	TLS     TLS     `toml:"tls"`
	Beacon  Beacon  `toml:"beacon"`
	Witness Witness `toml:"witness"`
	Limits  Limits  `toml:"limits"`

	// Ledgers are the ledgers to serve, each created beforehand. Default none.
	Ledgers []Ledger `toml:"ledger"`
}

// The values of Config.Statistics.
const (
	StatisticsWarn = "warn"
	StatisticsHalt = "halt"
)

// Log says what is logged, to standard error.
type Log struct {
	Level  string `toml:"level"`  // debug, info, warn or error; default info
	Format string `toml:"format"` // text or json; default text
}

// TLS holds PEM files. Without Cert the API speaks plain HTTP.
type TLS struct {
	Cert     string `toml:"cert"`      // certificate chain; default none
	Key      string `toml:"key"`       // its private key; default none
	ClientCA string `toml:"client_ca"` // authorities of client certificates, which are then requested; default none
}

// Beacon says where the daemon fetches rounds of drand's quicknet. It verifies them under the chain's pinned key.
type Beacon struct {
	// http or https addresses, asked in this order; default none, so that callers bring the rounds
	Relays []string `toml:"relays"`
}

// Witness says at which hosts the daemon asks witnesses. It is needed because an administrator can write a policy with
// any address over the API, and the daemon would send requests to that address.
type Witness struct {
	// Hosts are host or host:port, alongside those of the policy with which a ledger was created. Without a port, the
	// default port of http or https is meant. Default none.
	Hosts []string `toml:"hosts"`
	// Intervals are witnesses that are asked once in an interval at most, and not for every checkpoint: the name of the
	// key, and 1s to 24h, as in "w.example.org/w1 1m". Default none.
	Intervals []string `toml:"intervals"`
}

// Limits bound the work that callers can cause.
type Limits struct {
	MaxBody       Size `toml:"max_body"`        // of a request; 64KiB to 64MiB, default 1MiB
	MaxVerifyBody Size `toml:"max_verify_body"` // of evidence to verify; 64KiB to 64MiB, default 32MiB
	// connections to the API at a time, half of them from one address; at least 2, default 8192
	Connections int `toml:"connections"`
	// requests that work on ledgers at a time, half of them on one ledger; at least 1, default 2048
	Concurrency int `toml:"concurrency"`
	Waiting     int `toml:"waiting"` // requests that wait to work, per ledger; at least 1, default 4096
	// requests that wait for witnesses at a time, half of them of one ledger; at least 1, default 4096
	Witnessed      int `toml:"witness_waiting"`
	Followers      int `toml:"followers"`       // streams of events at a time; at least 2, default 256
	TokenFollowers int `toml:"token_followers"` // of these of one token; at least 1, default 16
	Verifications  int `toml:"verifications"`   // verifications at a time; at least 1, default 4
	// reads of shuffles and the log at a time by callers that do not deal, half of them from one address; also the
	// connections to the database for these reads; at least 1, default 4
	Readers   int  `toml:"readers"`
	TileCache Size `toml:"tile_cache"` // memory for tiles and entry bundles; 1MiB to 64GiB, default 64MiB
	// requests that wait for a ledger's writer, per ledger; at least 1024, default 4096
	Queue int `toml:"queue"`
	// deals that wait for one co-dealer at a time; at least 1, default 256
	Asks int `toml:"co_dealer_asks"`
	// orders of one kind that a co-dealer is asked for in advance; 0 for none, default 16
	Orders int `toml:"co_dealer_orders"`

	TokenRate  float64 `toml:"token_rate"`  // requests per second and token; 0, the default, for no limit
	TokenBurst int     `toml:"token_burst"` // of these at once; at least 1, default 100
	// tokens that are wrong or were not seen before, per second and address; 0 for no limit, default 20
	UnknownRate  float64 `toml:"unknown_rate"`
	UnknownBurst int     `toml:"unknown_burst"` // of these at once; at least 1, default 200
	// anonymous reads that are expensive, per second and address; 0 for no limit, default 20
	ReadRate  float64 `toml:"read_rate"`
	ReadBurst int     `toml:"read_burst"` // of these at once; at least 1, default 100
	// bytes of anonymous reads per second and address; 0B for no limit, default 8MiB
	ReadBytes    Size    `toml:"read_bytes"`
	ReadBytesAll Size    `toml:"read_bytes_all"` // the same for all addresses together; 0B for no limit, default 32MiB
	VerifyRate   float64 `toml:"verify_rate"`    // verifications per second and address; 0 for no limit, default 5
	VerifyBurst  int     `toml:"verify_burst"`   // of these at once; at least 1, default 20

	// from the header of a request until it may work; 10ms to 10m, default 700ms
	Patience          Duration `toml:"patience"`
	RequestTimeout    Duration `toml:"request_timeout"`     // from header to answer; 100ms to 10m, default 10s
	ReadHeaderTimeout Duration `toml:"read_header_timeout"` // 100ms to 10m, default 5s
	ReadTimeout       Duration `toml:"read_timeout"`        // of a whole request; 100ms to 10m, default 30s
	WriteTimeout      Duration `toml:"write_timeout"`       // of an answer; 100ms to 10m, default 1m
	IdleTimeout       Duration `toml:"idle_timeout"`        // of a kept connection; 100ms to 10m, default 2m
}

// Sandbox returns limits without rates, byte quotas and patience of its own.
func (l Limits) Sandbox() Limits {
	l.TokenRate, l.UnknownRate, l.ReadRate, l.VerifyRate, l.ReadBytes, l.ReadBytesAll = 0, 0, 0, 0, 0, 0
	l.Patience = l.RequestTimeout
	return l
}

// Ledger is one ledger to serve.
type Ledger struct {
	// Name is part of addresses: /v1/NAME/…. It has 1 to 64 letters, digits, dots, underscores and hyphens, and begins
	// with a letter or digit. Required.
	Name string `toml:"name"`
	// Database is a database of the ledger's own, as Config.Database, with its password file and pooler. Default that
	// of the daemon.
	Database             string `toml:"database"`
	DatabasePasswordFile string `toml:"database_password_file"`
	DatabasePooler       bool   `toml:"database_pooler"`
	// SigningKey is the key file. The key's origin is the ledger's. Default DATA/NAME.key.
	SigningKey string `toml:"signing_key"`
	// SigningKeys are more key files of this ledger, of keys that came or will come into force after SigningKey.
	// Default none.
	SigningKeys []string `toml:"signing_keys"`
	// Mark is the file of the high-water mark. Default DATA/NAME.mark.
	Mark string `toml:"mark"`
	// Decks are the decks that the ledger may commit: published names, hashes of other decks in base64, or "any".
	// Default: in a sandbox every deck, in production every published one except positions.
	Decks []string `toml:"decks"`
	// Houses are files of policies, each with the keys and witnesses of a ledger whose house deals blind with orders of
	// this ledger. Default none.
	Houses []string `toml:"houses"`
	// CoDealers say where the co-dealers are that key entries of this ledger name. Each has three words: the origin of
	// the co-dealer's ledger, that ledger's address, such as https://lab.example.org/v1/orders, and the file of a token
	// of the role blind there. Default none.
	CoDealers []string `toml:"co_dealers"`
}

// Default returns the configuration of an empty file. Paths that depend on other settings are empty until Resolve.
func Default() *Config {
	return &Config{
		Listen: "127.0.0.1:8080", OperatorListen: "127.0.0.1:9090", Data: "./shuffled-data",
		ClockStep: Duration(5 * time.Second), MarkSync: Duration(time.Second),
		DisclosureRotation: Duration(24 * time.Hour), Statistics: StatisticsWarn,

		Log: Log{Level: "info", Format: "text"},
		Limits: Limits{
			MaxBody: 1 << 20, MaxVerifyBody: 32 << 20, Connections: 8192, Concurrency: 2048,
			Waiting: 4096, Witnessed: 4096, Followers: 256, TokenFollowers: 16,
			Verifications: 4, Readers: 4, TileCache: 64 << 20, Queue: 4096, Asks: 256, Orders: 16,
			TokenBurst: 100, UnknownRate: 20, UnknownBurst: 200,
			ReadRate: 20, ReadBurst: 100, ReadBytes: 8 << 20, ReadBytesAll: 32 << 20,
			VerifyRate: 5, VerifyBurst: 20,
			Patience: Duration(700 * time.Millisecond), RequestTimeout: Duration(10 * time.Second),
			ReadHeaderTimeout: Duration(5 * time.Second), ReadTimeout: Duration(30 * time.Second),
			WriteTimeout: Duration(time.Minute), IdleTimeout: Duration(2 * time.Minute),
		},
	}
}

// Resolve fills in the paths that are empty and depend on Data: database, sealing key, and the files of each ledger.
// Call it after the flags of the command line were applied. A second call changes nothing.
func (c *Config) Resolve() {
	at := func(name string) string { return filepath.Join(c.Data, name) }
	c.Database = cmp.Or(c.Database, schemeSQLite+at("shuffled.db"))
	if len(c.SealingKeys) == 0 {
		c.SealingKeys = []string{at("sealing.key")}
	}
	for i := range c.Ledgers {
		l := &c.Ledgers[i]
		l.SigningKey = cmp.Or(l.SigningKey, at(l.Name+".key"))
		l.Mark = cmp.Or(l.Mark, at(l.Name+".mark"))
	}
}

// Of returns the settings for one ledger: with the ledger's own database if it has one.
func (c *Config) Of(l Ledger) *Config {
	if l.Database == "" {
		return c
	}
	of := *c
	of.Database, of.DatabasePasswordFile, of.DatabasePooler = l.Database, l.DatabasePasswordFile, l.DatabasePooler
	return &of
}

// SQLite returns the path of an embedded database. ok is false for a server's.
func (c *Config) SQLite() (path string, ok bool) { return strings.CutPrefix(c.Database, schemeSQLite) }

// Databases returns the settings once for each database: first those for the daemon's own, then those for the first
// ledger of each other database.
func (c *Config) Databases() []*Config {
	all := []*Config{c}
	for _, l := range c.Ledgers {
		of := c.Of(l)
		if !slices.ContainsFunc(all, func(o *Config) bool { return o.Database == of.Database }) {
			all = append(all, of)
		}
	}
	return all
}

// Credentials changes the path of every secret file to that of its name in one directory, such as the private copies
// that systemd makes. The key of the TLS certificate keeps its path, because it is renewed while the daemon runs. Two
// different files of one name are an error, and so is one without a copy. Call it after Resolve.
func (c *Config) Credentials(dir string) (wrong error) {
	taken := make(map[string]string)
	take := func(path *string) {
		from, name := *path, filepath.Base(*path)
		if from == "" {
			return
		}
		other := cmp.Or(taken[name], from)
		taken[name], *path = from, filepath.Join(dir, name)
		if _, err := os.Stat(*path); err != nil {
			wrong = fmt.Errorf("%w: add LoadCredential=%s:%s to the unit, and give systemctl daemon-reload", err, name, from)
		} else if other != from {
			wrong = fmt.Errorf("%s and %s have the same name in %s: rename one of them", other, from, dir)
		}
	}
	take(&c.DatabasePasswordFile)
	take(&c.PassphraseFile)
	for i := range c.SealingKeys {
		take(&c.SealingKeys[i])
	}
	for i := range c.Ledgers {
		l := &c.Ledgers[i]
		take(&l.SigningKey)
		take(&l.DatabasePasswordFile)
		for k := range l.SigningKeys {
			take(&l.SigningKeys[k])
		}
		for k, text := range l.CoDealers {
			if c, err := ParseCoDealer(text); err == nil {
				take(&c.TokenFile)
				l.CoDealers[k] = c.Origin + " " + c.URL + "/v1/" + c.Ledger + " " + c.TokenFile
			}
		}
	}
	return wrong
}

// Digest returns the SHA-256 of all settings in force, as TOML. A password in a database address, which only the
// command line can give, is left out.
func (c *Config) Digest() [32]byte {
	public := *c
	public.Database = withoutPassword(c.Database)
	b, err := toml.Marshal(public)
	if err != nil { // the struct's own types only
		panic(fmt.Sprintf("config: encoding the settings: %v", err))
	}
	return sha256.Sum256(b)
}
