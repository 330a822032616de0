package httpapi

import (
	"fmt"
	"testing"
)

func TestHand(t *testing.T) {
	t.Parallel()
	s := newStack(t, stackOptions{})
	first := s.post("/v1/main/shuffles", "hand-1", `{"table":"poker-7","deck":"standard-52","game_ref":"g-1"}`)
	shuffle := read[Shuffle](t, first)
	if shuffle.Serial != 1 || shuffle.Table != "poker-7" || shuffle.ID < 1 {
		t.Errorf("%+v", shuffle)
	}
	path := fmt.Sprintf("/v1/main/shuffles/%d", shuffle.ID)
	deal := read[Deal](t, s.post(path+"/deal", "", `{"first":0,"runs":[{"count":2,"purpose":"seat","recipient":"seat-1"},{"count":3,"purpose":"board","public":true}]}`))
	if len(deal.Cards) != 5 || deal.Next != 5 {
		t.Errorf("%+v", deal)
	}
	state := read[ShuffleState](t, s.get(path, ""))
	t.Logf("%+v", state)
	t.Logf("%s", s.get("/v1/main/keys", "").body)
	_ = read[Close](t, s.post(path+"/close", "", `{"outcome":"completed"}`))
	tr := s.get(path+"/transcript", "")
	v := s.do(ask{method: "POST", path: "/v1/verify", body: tr.body})
	t.Logf("%s", v.body)
}
