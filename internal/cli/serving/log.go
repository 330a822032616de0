package serving

import (
	"io"
	"log/slog"

	"shuffled/internal/config"
)

// NewLog returns the daemon's log: JSON or text lines, from the level on.
func NewLog(w io.Writer, cfg *config.Config) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.Log.Level)); err != nil {
		level = slog.LevelInfo
	}
	o := &slog.HandlerOptions{Level: level}
	if cfg.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
