"""A day of measured demand, replayed with a policy: would changes of circuits pay?

| file | concept |
|---|---|
| `gathering` | files, one after the other, and their times |
| `series` | demands with times, from files or from records |
| `intervals` | how long each is for |
| `light` | what a plan lights, and what that carries of a demand |
| `sharing` | paths over common circuits share them |
| `players` | who decides what is lit: the policy, and what it is compared with |
| `play` | a day played, and what came of it |
| `outcome` | the same as JSON and CSV, and in a sentence |
"""
