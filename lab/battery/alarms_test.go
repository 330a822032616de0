package battery

import (
	"flag"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

var (
	alarmRuns  = flag.Int("runs", 300, "small fair samples that TestFalseAlarms judges")
	alarmGames = flag.Int("games", 1600, "games in each: the least that every table of 52 takes")
)

// TestFalseAlarms judges small fair samples, for which the approximations are worst:
// the share below each limit of the rule is at most the limit, within the precision of
// this many samples. With -runs 10000 it takes some ten minutes.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes too long for a short run")
	}
	limits := []float64{0.05, Level, 0.001, RejectAtOnce}
	below := make([]atomic.Int64, len(limits))
	families := map[string]int{}
	var mu sync.Mutex
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for run := next.Add(1); run <= int64(*alarmRuns); run = next.Add(1) {
				deal, games := fairDeckOf(uint64(run), 52), newDeckTally(Shape{Cards: 52, Decks: 1})
				for range *alarmGames {
					games.add(deal())
				}
				// As in report, without the slow part: the deviation that each test would
				// find.
				var f deckFindings
				f.complete(games.broken, games.outcomes)
				for _, c := range games.counters {
					c.results(&f)
				}
				var results []Result
				for _, found := range f.found {
					results = append(results, found.Result)
				}
				holm(results)
				smallest, by := 1.0, ""
				for _, res := range results {
					if res.Adjusted < smallest {
						smallest, by = res.Adjusted, res.Test
					}
				}
				for i, limit := range limits {
					if smallest < limit {
						below[i].Add(1)
					}
				}
				if smallest < Level {
					mu.Lock()
					families[by]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	for i, limit := range limits {
		count := float64(below[i].Load())
		// The chance of this many or more, if the limit is the true share.
		p := distuv.Binomial{N: float64(*alarmRuns), P: 1 - limit}.CDF(float64(*alarmRuns) - max(1, count))
		t.Logf("smallest adjusted p below %v: %v of %d samples of %d games, chance of so many %.2g", limit, count,
			*alarmRuns, *alarmGames, p)
		if p < 1e-6 || math.IsNaN(p) {
			t.Errorf("below %v: %v of %d samples", limit, count, *alarmRuns)
		}
	}
	t.Logf("below %v by %v", Level, families)
}
