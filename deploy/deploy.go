// Package deploy has the files of a deployment, of which shuffled init writes copies.
package deploy

import _ "embed"

// Roles are the statements that make the roles of the database and grant what they need.
//
//go:embed roles.sql
var Roles string

// Unit is the daemon's service of systemd.
//
//go:embed shuffled.service
var Unit string
