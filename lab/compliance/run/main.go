// Command run runs the evidence that the table of lab/compliance names, and prints each row with its
// result. It exits with 1 if something failed or was missing. -markdown writes docs/COMPLIANCE.md instead.
//
// Run it from anywhere in the module of the lab, with the go command that builds it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"shuffled/lab/compliance"
)

func main() {
	long := flag.Bool("long", false, "also run what takes minutes")
	markdown := flag.String("markdown", "", "write the document to this `file`, and run nothing")
	flag.Parse()
	if *markdown != "" {
		if err := os.WriteFile(*markdown, []byte(compliance.Markdown()), 0o644); err != nil {
			fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := newRunner(*long)
	if err != nil {
		fatal(err)
	}
	defer r.close()
	if err := r.all(ctx); err != nil {
		r.close()
		fatal(err)
	}
	if !r.print() {
		r.close()
		os.Exit(1)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "compliance:", err)
	os.Exit(3)
}

// all runs the evidence of the rows, each piece once.
func (r *runner) all(ctx context.Context) error {
	start := time.Now()
	byPackage := map[string][]string{}
	var packages []string
	for e := range r.evidence() {
		for _, name := range e.Tests {
			if r.tests[key(e.Package, name)] != unknown {
				continue
			}
			if byPackage[e.Package] == nil {
				packages = append(packages, e.Package)
			}
			r.tests[key(e.Package, name)] = missing
			byPackage[e.Package] = append(byPackage[e.Package], name)
		}
	}
	if err := r.allTests(ctx, start, packages, byPackage); err != nil {
		return err
	}
	for e := range r.evidence() {
		if line := strings.Join(e.Args, " "); e.Args != nil && r.commands[line] == unknown {
			fmt.Fprintf(os.Stderr, "compliance: %4.0f s  shuffled %s\n", time.Since(start).Seconds(), line)
			r.commands[line] = r.shuffled(ctx, e.Args)
		}
	}
	return ctx.Err()
}

// allTests runs tests of several packages at a time: some wait, and others compute.
func (r *runner) allTests(ctx context.Context, start time.Time, packages []string, names map[string][]string) error {
	next, errs := make(chan int), make([]error, len(packages))
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				fmt.Fprintf(os.Stderr, "compliance: %4.0f s  tests of %s (%d of %d packages)\n",
					time.Since(start).Seconds(), packages[i], i+1, len(packages))
				errs[i] = r.goTest(ctx, packages[i], names[packages[i]])
			}
		})
	}
	for i := range packages {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// print prints the table, and reports whether nothing failed.
func (r *runner) print() bool {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	counts := map[result]int{}
	for _, g := range compliance.Groups() {
		fmt.Fprintf(w, "\n%s\n", g.Title)
		for _, row := range g.Rows {
			res, note := r.row(row)
			counts[res]++
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", row.ID, row.Title, res, note)
		}
	}
	w.Flush()
	fmt.Printf("\n%d rows pass, %d fail, %d were skipped in part, %d are shown by nothing that runs\n",
		counts[pass], counts[fail], counts[skip], counts[unknown])
	return counts[fail] == 0
}

// row is the result of a row: the worst of its evidence.
func (r *runner) row(row compliance.Row) (result, string) {
	worst := unknown
	var notes []string
	for _, e := range row.Evidence {
		if e.Document != "" {
			continue
		}
		if e.Long && !r.long {
			if len(notes) == 0 {
				notes = append(notes, "more with -long")
			}
			continue
		}
		if e.Args != nil {
			res := r.commands[strings.Join(e.Args, " ")]
			worst = max(worst, res)
			if res >= skip {
				notes = append(notes, "shuffled "+strings.Join(e.Args, " "))
			}
		}
		for _, name := range e.Tests {
			res := r.tests[key(e.Package, name)]
			if res == missing {
				res = fail
			}
			worst = max(worst, res)
			if res >= skip {
				notes = append(notes, e.Package+" "+name)
			}
		}
	}
	if row.NotShown != "" && row.Evidence == nil {
		notes = append(notes, "not shown")
	} else if row.NotShown != "" {
		notes = append(notes, "in part not shown")
	}
	if row.Duty != "" {
		notes = append(notes, "organisational duties")
	}
	return worst, strings.Join(notes, "; ")
}
