"""Replay of a day of measured demand with a policy, to find out whether reconfiguration would pay.

| file | concept |
|---|---|
| `gathering` | the files, in order, with their times |
| `series` | demands with times, from files or from records |
| `intervals` | the length of each interval |
| `light` | the circuits of a plan, and the demand that they carry |
| `sharing` | shares of paths over common circuits |
| `players` | the policy, and the alternatives for comparison |
| `play` | the replay of a day |
| `outcome` | the result as JSON, as CSV and as text |
"""
