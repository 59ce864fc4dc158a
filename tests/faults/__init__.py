"""Faults on purpose: processes killed, disks full, servers gone, entries damaged, two runs at once."""
