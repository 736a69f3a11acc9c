"""The command line: one file per command, thin over the library.  Nothing heavy is imported until a command runs."""
