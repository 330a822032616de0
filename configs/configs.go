// Package configs has the example configuration, in which shuffled init fills in what an operator chose.
package configs

import _ "embed"

// Example has every setting with its default and its danger.
//
//go:embed shuffled.example.toml
var Example string
