"""The controller: changes circuits of real switches safely, with the policies of simulations.

| module | content |
|---|---|
| `config` | `CONTROLLER.toml` |
| `store`, `schema` | intents, transactions, leases, tokens, audit records; SQLite or PostgreSQL |
| `database`, `audit` | connections and the role of the active controller; the audit log |
| `store_url` | the address of the store |
| `claims` | idempotency keys in the store |
| `intents`, `transaction_log` | requested cross-connects, and transactions, in the store |
| `change` | the difference between lit and requested cross-connects |
| `transaction` | carries out a change, step by step, and recovers after a crash |
| `hooks`, `interface_hook` | hooks that drain traffic before its circuit goes dark: HTTP, gNMI |
| `openflow_hook`, `circuit_rules` | a hook that changes rules of OpenFlow switches; these rules |
| `testbed_hook` | a hook that changes the forwarding of a Linux testbed |
| `decider` | calls the policy of the simulated fabrics at every interval |
| `demand`, `matrices` | the newest demand of each switch; matrices between its racks |
| `folder`, `prometheus`, `counters` | sources of demand: files, a Prometheus server, interfaces |
| `unmapped` | racks that demand names and no port map has |
| `smoothing` | averages demand over time |
| `tables` | rows of CSV files of the configuration |
| `interfaces` | interfaces of top-of-rack switches that speak gNMI |
| `limits` | dwell, gain, dark time per hour, quiet hours |
| `managed`, `racks` | a switch with its last reading; the racks on its ports |
| `requests` | requests of operators, leases and the policy, in order of priority |
| `basis` | the requests that a plan depends on |
| `planner`, `losses` | the change that requests lead to; the circuits that go dark by a request |
| `jobs` | jobs on the racks, with the times of their checkpoints |
| `deferred`, `deferrals` | changes that wait for a time or a checkpoint; their start |
| `cost`, `dark` | the cost of a change; the dark time of its circuits |
| `dark_clock` | measures the dark time of circuits of a policy's change |
| `forecast`, `foresight` | a simulation of the next interval; its input for a real switch |
| `advice`, `timed` | calls the policies, within the limits; calls with a time limit |
| `held_clock` | one time for all readings of the clock in a plan |
| `attempts` | the requests that begin together, and the part of their change to try |
| `retries`, `parts` | retries after a failure; the parts of a change |
| `stuck` | what stuck transactions leave behind, until a later change settles it |
| `traffic` | sends traffic over circuits with light, and over no others |
| `service`, `passes` | the reconcile loop, over all switches in parallel |
| `overview` | the state of all switches, and alarms |
| `run` | the process: its threads and the role of the active controller |
| `undoing` | whether a transaction can be undone |
| `leases` | reservations with owners and priorities |
| `tokens` | clients and their scopes |
| `api` | routes of the HTTP interface |
| `bodies`, `answers`, `refusals` | requests, answers and errors of the interface |
| `admission`, `replays` | tokens and limits, checked before a body is read; idempotency keys |
| `page`, `metrics`, `meters` | dashboard; Prometheus metrics; the counters for them |
| `client` | a client of the interface |
"""
