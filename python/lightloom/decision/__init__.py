"""Which fabric to buy: performance, dollars and watts of each, and what would overturn the choice.

| module | |
|---|---|
| `options` | `[decision]` of an experiment: its price book, its own prices |
"""
