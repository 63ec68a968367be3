"""The only writer of results: either all files of a command get their final names, or none does.

Files are written completely into a hidden folder `.lightloom` inside their destination, and flushed
to the disk. One rename inside that folder then makes them final, and they are moved to their names.
A lock in the folder names the writer and ends with its process. The next holder of the lock
completes the moves of a process that died after the rename, and discards all other files of it.

Nothing is imported here, because `signals` is loaded before anything else.
"""
