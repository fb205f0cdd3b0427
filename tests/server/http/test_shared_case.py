"""A raw client that was not written here, against the endpoint."""

from __future__ import annotations

import asyncio
import sys

import pytest

from tests.server.http.conftest import serving
from tests.shared import shared_path

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("json", [True, False])
async def test_a_raw_client_of_others_finds_nothing_wrong(json: bool):
    script = shared_path("cases/75-server-raw-requests.py")
    async with serving(json=json) as (raw, _, _):
        command = [sys.executable, str(script), raw.running.url, str(raw.running.token)]
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        out, _ = await asyncio.wait_for(process.communicate(), 60)
    rows = out.decode().splitlines()
    assert len(rows) == 12 and all(row.startswith("PASS") for row in rows), rows
