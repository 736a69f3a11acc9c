"""A database of a real PostgreSQL server for each test, with roles that may do what a test lets them."""

from __future__ import annotations

import itertools
import os

import pytest

CANARY = "canary-4711"
SECRET_VALUE = "hepatitis-4711"
_NUMBERS = itertools.count()


class Server:
    """A new database of the server, with the table `people`, and roles that only this test has."""

    def __init__(self, url: str):
        import adbc_driver_postgresql.dbapi as dbapi

        self._dbapi = dbapi
        self.name = f"reticent_{os.getpid()}_{next(_NUMBERS)}"
        self._server_url = url
        self._run(url, f"CREATE DATABASE {self.name}")
        self.url = url.replace("/postgres?", f"/{self.name}?")
        self._run(
            self.url,
            "REVOKE ALL ON SCHEMA public FROM PUBLIC",
            "GRANT USAGE ON SCHEMA public TO PUBLIC",
            "CREATE TABLE people (age int, illness text)",
            f"INSERT INTO people SELECT 20 + n % 4, '{SECRET_VALUE}' FROM generate_series(1, 40) AS n",
        )

    def _run(self, url: str, *statements: str) -> None:
        with self._dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def run(self, *statements: str) -> None:
        self._run(self.url, *statements)

    def make_role(self, *rights: str, options: str = "LOGIN") -> str:
        """Make a role with these rights; return the address that it logs in by, with a password to be kept silent."""
        role = f"{self.name}_role_{next(_NUMBERS)}"
        self.run(f"CREATE ROLE {role} {options}", *(right.format(role=role) for right in rights))
        return self.url.replace("postgres:@", f"{role}:{CANARY}@")

    def drop(self) -> None:
        self._run(self._server_url, f"DROP DATABASE {self.name} WITH (FORCE)")


@pytest.fixture
def server(postgres):
    made = Server(postgres)
    yield made
    made.drop()
