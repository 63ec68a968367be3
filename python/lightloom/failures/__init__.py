"""What breaks: every fabric of a comparison with one part dead, by running it.

- `elements`: kinds of parts that can die, and how a `[[fault]]` names one;
- `probing`: which of them a fabric has, and how many, as the core says;
- `switches`: of how many switches an electrical network is made;
- `sample`: which members of a large kind are tried;
- `assumed`: what each fabric takes for granted about failures;
- `sentences`: statements about it;
- `search`: how it is looked for; `plan`: the runs that this takes; `measure`: these runs;
- `estimate`: how long they take.
"""
