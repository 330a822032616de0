// Package term is what the command lines of this project share: exit codes and errors of commands, text that is
// safe for a terminal, tables, cards, progress.
package term
