//go:build deps

// Package gen is empty. Through this file go mod tidy finds what package asm imports.
package gen

import _ "revnum/internal/simd/_gen/asm"
