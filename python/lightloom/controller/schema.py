"""Tables of the store."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

VERSION = 6
"""Version of these tables. A store of a newer version is refused; an older one gets the tables and
columns that it lacks (2: `job`, `deferred`; 3: `job.until`; 4: `idempotency.made`; 5: dark time of
transactions; 6: `stuck_port`, `away`)."""

metadata = MetaData()

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

intent = Table(
    "intent",
    metadata,
    Column("switch", String(64), primary_key=True),
    Column("a", Integer, primary_key=True),
    Column("b", Integer, primary_key=True),
    Column("owner", String(128), primary_key=True),
    Column("priority", Integer, nullable=False),
    Column("since", Float, nullable=False),
)

transaction = Table(
    "transaction_log",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("switch", String(64), nullable=False),
    Column("state", String(16), nullable=False, index=True),
    Column("who", String(128), nullable=False),
    Column("plan", Text, nullable=False),
    Column("reason", Text, nullable=False, default=""),
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("steps", Text, nullable=False),
    Column("dark_s", Float, nullable=True),
    Column("dark_until", Float, nullable=True),
    Index("transaction_log_switch", "switch", "id"),
    # Sums over a long history read only the index, not the plans.
    Index("transaction_log_states", "switch", "state", "id", "updated", "created"),
    Index("transaction_log_dark", "switch", "dark_until", "dark_s"),
)

owned = Table(
    "owned",
    metadata,
    Column("switch", String(64), primary_key=True),
    Column("a", Integer, primary_key=True),
    Column("b", Integer, primary_key=True),
)

stuck_port = Table(
    "stuck_port",
    metadata,
    Column("switch", String(64), primary_key=True),
    Column("port", String(16), primary_key=True),
    Column("number", Integer, nullable=False),
)

away = Table(
    "away",
    metadata,
    Column("switch", String(64), primary_key=True),
    Column("a", Integer, primary_key=True),
    Column("b", Integer, primary_key=True),
)

lease = Table(
    "lease",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("switch", String(64), nullable=False),
    Column("rack_a", String(128), nullable=False),
    Column("rack_b", String(128), nullable=False),
    Column("owner", String(128), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("begins", Float, nullable=False),
    Column("ends", Float, nullable=False),
    Column("released", Float, nullable=True),
    Index("lease_ends", "ends"),
)

job = Table(
    "job",
    metadata,
    Column("name", String(128), primary_key=True),
    Column("owner", String(128), nullable=False),
    Column("racks", Text, nullable=False),
    Column("accelerators", Integer, nullable=True),
    Column("begins", Float, nullable=True),
    Column("ends", Float, nullable=True),
    Column("ended", Float, nullable=True),
    Column("until", Float, nullable=True),
    Index("job_ended", "ended", "until"),
)

deferred = Table(
    "deferred",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("switch", String(64), nullable=False),
    Column("client", String(128), nullable=False),
    Column("pairs", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("at", Float, nullable=True),
    Column("created", Float, nullable=False),
    Column("outcome", String(16), nullable=True),
    Column("ended", Float, nullable=True),
    Index("deferred_outcome", "outcome"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("at", Float, nullable=False),
    Column("who", String(128), nullable=False),
    Column("what", String(64), nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Index("audit_at", "at"),
)

token = Table(
    "token",
    metadata,
    Column("name", String(128), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("expires", Float, nullable=True),
    Column("revoked", Float, nullable=True),
)

answer = Table(
    "idempotency",
    metadata,
    Column("key", String(128), primary_key=True),
    Column("who", String(128), primary_key=True),
    Column("request", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("made", Integer, nullable=True),
    Index("idempotency_at", "at"),
)

role = Table(
    "role",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("holder", String(128), nullable=False),
    Column("until", Float, nullable=False),
    Column("fence", Integer, nullable=False),
    UniqueConstraint("name"),
)
