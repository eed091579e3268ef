// Package adbench reads and writes the files of the ADBench suite (Srajer,
// Kukelova and Fitzgibbon, "A benchmark of selected algorithmic
// differentiation tools on some problems in computer vision and machine
// learning", 2018), and measures revnum the way ADBench's runners measure a
// tool.
package adbench
