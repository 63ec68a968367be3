"""The only writer of results: either all files of a command get their final names, or none does.

Files are written completely into a hidden folder `.lightloom` beside their destination, flushed to
the disk, listed in a journal and then moved. The files that they replace are kept until all moves
are made. A lock in that folder names the writer and ends with its process. The next holder of the
lock recognises files that a dead process left, and undoes its moves.

Nothing is imported here, because `signals` is loaded before anything else.
"""
