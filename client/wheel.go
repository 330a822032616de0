package client

import "strconv"

// Roulette returns the stops of a roulette wheel for DrawsRequest.Wheel, all equally likely: the zeros, such as "0" or
// "0" and "00", and "1" to "36". A spin shows one of these labels. A draw from Ranges of 37 is 1 to 37 and never 0.
func Roulette(zeros ...string) []Stop {
	stops := make([]Stop, 0, len(zeros)+36)
	for _, zero := range zeros {
		stops = append(stops, Stop{Label: zero, Weight: 1})
	}
	for pocket := 1; pocket <= 36; pocket++ {
		stops = append(stops, Stop{Label: strconv.Itoa(pocket), Weight: 1})
	}
	return stops
}
