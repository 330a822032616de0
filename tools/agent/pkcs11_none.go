//go:build !cgo

package main

import "errors"

func openToken(*settings) (store, error) {
	return nil, errors.New("this program was built without C, and so without PKCS#11: build it with CGO_ENABLED=1")
}
