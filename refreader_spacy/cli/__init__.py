"""The command line: one command per file, each parses, calls and prints."""
