//go:build race

package revtest

const raceDetector = true
