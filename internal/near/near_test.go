package near

import "testing"

func TestHint(t *testing.T) {
	names := []string{"table", "take", "deck", "game_ref", "standard-52", "standard-54", "main", "listen", "seat", "ä"}
	for sent, want := range map[string]string{
		"tabel": "table", "Table": "table", "standard52": "standard-52", "standard-53": "standard-52",
		"gameRef": "game_ref", "mian": "main", "lisetn": "listen", "tables": "table", "set": "seat", "seatt": "seat",
		"": "", "x": "", "poker": "", "wheel": "", "listenlisten": "",
	} {
		if want != "" {
			want = ` The nearest is "` + want + `".`
		}
		if got := Hint(sent, names); got != want {
			t.Errorf("%q: %q, not %q", sent, got, want)
		}
	}
}
