package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// An interrupt ends the program of peers, and leaves no folder.
func TestPeersInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupts to send")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(t.TempDir(), "python") // which never answers
	if err := os.WriteFile(python, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	cmd := exec.Command(exe, "peers", "kernels", "--python", python, "--run", "Dot", "--time", "1ms")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	err = interrupt(t, cmd, dir, "*")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 || !bytes.Contains(errs.Bytes(), []byte("interrupted")) {
		t.Errorf("%v, %s, want exit status 130", err, errs.String())
	}
	wantFiles(t, dir)
}
