"""What a run or a comparison says: figures, ranking, verdicts, warnings."""
