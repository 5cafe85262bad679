"""What a run needs of the machine: threads, device, memory, files and locks."""
