// Package adbench measures revnum as the runners of the ADBench suite measure a tool, and
// writes the files that they write.
package adbench
