package needle

import (
	"bytes"
	"encoding/base64"
	encode "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestSearchFinds: what is planted is found in every form, wherever it lies.
func TestSearchFinds(t *testing.T) {
	secret := []byte("\x00\xff\x10a tape of 129 bytes, of which any full piece tells\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\xfe\xfb")
	order := []uint32{51, 3, 17, 22, 40, 9, 0, 1, 33, 50, 12, 5, 47, 8}
	names := strings.Fields("As Kd 7h 2c Tc 9s Jd 4h 3s Qc 8d 6h 5c")
	n := New()
	n.Bytes("tape", secret)
	n.Values("order", order, 12)
	n.Words("cards", names, 12)
	asJSON := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var u16, u64, varint, u32be []byte
	for _, v := range order {
		u16, u64 = encode.NativeEndian.AppendUint16(u16, uint16(v)), encode.NativeEndian.AppendUint64(u64, uint64(v))
		varint, u32be = encode.AppendUvarint(varint, uint64(v)), encode.BigEndian.AppendUint32(u32be, v)
	}
	planted := map[string]string{
		"raw": string(secret), "a part": string(secret[5:40]), "hex": hex.EncodeToString(secret),
		"HEX":      fmt.Sprintf("%X", secret),
		"quoted":   strconv.Quote(string(secret[len(secret)-16:])),
		"decimals": fmt.Sprint(secret), "JSON": asJSON(map[string]any{"tape": secret}),
		"base64, 1":     base64.StdEncoding.EncodeToString(append([]byte("x"), secret...)),
		"base64, 2":     base64.URLEncoding.EncodeToString(append([]byte("xy"), secret...)),
		"base64url":     base64.RawURLEncoding.EncodeToString(secret),
		"Go":            strings.ReplaceAll(fmt.Sprint(secret), " ", ", "),
		"order as JSON": asJSON(order), "order": fmt.Sprint(order),
		"u16": string(u16), "u64": string(u64),
		"varint": string(varint), "u32be": string(u32be), "cards": strings.Join(names, " "),
		"cards as JSON":       asJSON(names),
		"a part of the order": joined(order[2:], ", "),
	}
	for name, text := range planted {
		for _, front := range []int{0, 1, 7, blockLen - 9, blockLen - len(text), 2*blockLen - 40} {
			hits := 0
			hay := append(bytes.Repeat([]byte{'~'}, front), text...)
			if _, err := n.Read(bytes.NewReader(hay), func(Needle, int) { hits++ }); err != nil || hits == 0 {
				t.Errorf("%s behind %d bytes is not found: %v", name, front, err)
			}
		}
	}
	n.In([]byte(strings.Repeat("of which any full piece", 3)+asJSON(order[:11])), func(one Needle, _ int) {
		t.Errorf("%q is found where it is not", one.form)
	})
}
