"""A pygnmi client in a separate process: `python switch_pygnmi.py PORT` reads calls as lines of
JSON, and prints what they return."""

import json
import sys

from pygnmi.client import gNMIclient


def main():
    user = {"username": "admin", "password": sys.argv[2] if len(sys.argv) > 2 else "any"}
    address = ("127.0.0.1", int(sys.argv[1]))
    with gNMIclient(target=address, insecure=True, **user) as client:
        for line in sys.stdin:
            name, arguments = json.loads(line)
            arguments = {
                key: [tuple(one) if isinstance(one, list) else one for one in value]
                if isinstance(value, list)
                else value
                for key, value in arguments.items()
            }
            try:
                answer = {"ok": getattr(client, name)(**arguments)}
            except Exception as problem:  # told to the test
                answer = {"error": f"{type(problem).__name__}: {problem}"}
            print("ANSWER " + json.dumps(answer), flush=True)


main()
