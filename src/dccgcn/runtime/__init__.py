"""The machine that a run uses: threads, device, memory, files, locks and child processes."""
