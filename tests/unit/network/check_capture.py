# SPDX-License-Identifier: Apache-2.0
"""What tshark reads in a capture is what the model says that it sent: `check_capture.py CAPTURE_SAMPLE`; status 77
without tshark."""

import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile

#: Columns of the model's table, and the names of the same fields in Wireshark. Atomics share names with RDMA requests.
FIELDS = {
    "vl": "infiniband.lrh.vl",
    "sl": "infiniband.lrh.sl",
    "dlid": "infiniband.lrh.dlid",
    "slid": "infiniband.lrh.slid",
    "length": "infiniband.lrh.pktlen",
    "opcode": "infiniband.bth.opcode",
    "pkey": "infiniband.bth.p_key",
    "destination_qp": "infiniband.bth.destqp",
    "ack_request": "infiniband.bth.a",
    "psn": "infiniband.bth.psn",
    "qkey": "infiniband.deth.q_key",
    "source_qp": "infiniband.deth.srcqp",
    "address": "infiniband.reth.va",
    "rkey": "infiniband.reth.r_key",
    "dma_length": "infiniband.reth.dmalen",
    "syndrome": "infiniband.aeth.syndrome",
    "msn": "infiniband.aeth.msn",
    "immediate": "infiniband.immdt",
}
#: Protocols that tshark might see in arbitrary payloads.
HEURISTICS = (
    "smcr_infiniband",
    "smb_direct_infiniband",
    "rpcrdma_infiniband",
    "nvme_rdma",
    "lnet_ib",
    "iser_infiniband",
    "eth_over_ib",
    "mellanox_eoib",
    "sdp_infiniband",
    "fc_infiniband",
)
EXTRA = (
    "_ws.malformed",
    "frame.time_epoch",
    "infiniband.atomiceth.cmpdt",
    "infiniband.invariant.crc",
    "infiniband.variant.crc",
    "_ws.expert.message",
)


def number(text):
    """A field's text as a number; None where there is none."""
    if not text:
        return None
    text = text.split(",")[0].replace(":", "")
    return (
        int(text, 16)
        if text.startswith("0x")
        else {"True": 1, "False": 0}.get(text)
        if text in ("True", "False")
        else int(text)
    )


def read(tshark, capture):
    names = [*FIELDS.values(), *EXTRA]
    command = [
        tshark,
        "-r",
        capture,
        "-o",
        "infiniband.try_heuristic_first:FALSE",
        "-T",
        "fields",
        "-E",
        "separator=/t",
    ]
    for heuristic in HEURISTICS:
        command += ["--disable-heuristic", heuristic]
    for name in names:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"tshark: {done.stderr}")
    return [dict(zip(names, line.split("\t"))) for line in done.stdout.splitlines()]


def main():
    tshark = shutil.which("tshark")
    if not tshark:
        print("no tshark: nothing was checked")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder], check=True, timeout=60)
        seen = read(tshark, f"{folder}/sample.pcap")
        with open(pathlib.Path(folder) / "sample.csv", encoding="ascii", newline="") as file:
            sent = list(csv.DictReader(file))
    wrong = []
    if len(seen) != len(sent) or not sent:
        wrong.append(f"{len(seen)} packets in the capture, {len(sent)} sent")
    for index, (there, here) in enumerate(zip(seen, sent), 1):
        if there["_ws.malformed"] or there["_ws.expert.message"]:
            wrong.append(f"packet {index}: {there['_ws.malformed']} {there['_ws.expert.message']}")
        if abs(float(there["frame.time_epoch"]) - int(here["time_ps"]) * 1e-12) > 1e-9:
            wrong.append(f"packet {index}: time {there['frame.time_epoch']}, sent at {here['time_ps']} ps")
        for column, field in FIELDS.items():
            expected = number(here[column])
            if column == "immediate":
                found = number("0x" + there[field].replace(":", "")) if there[field] else None
            elif column == "syndrome":
                found = number(there[field])
                expected = expected & 0x7F if expected is not None else None  # the reserved bit stands apart
                found = found & 0x7F if found is not None else None
            else:
                found = number(there[field])
            if found != expected:
                wrong.append(
                    f"packet {index}, opcode {here['opcode']}: {field} is {there[field]!r}, {column} was"
                    f" {here[column]!r}"
                )
        if not there["infiniband.invariant.crc"]:
            wrong.append(f"packet {index}: no ICRC")
    print("\n".join(wrong[:40]) or f"tshark and the model agree on {len(sent)} packets")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
