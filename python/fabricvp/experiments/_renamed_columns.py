# SPDX-License-Identifier: Apache-2.0
"""Names that columns of experiments' tables, and values in them, had before version 0.3."""

#: Earlier names of columns: which experiments had them, the old and the new name.
COLUMNS = (
    ("compnet-*", "scheme", "backend"),
    ("crossed", "scheme", "backend"),
    ("compnet-locking", "most_ways", "max_ways"),
    ("compnet-training", "way", "algorithm"),
    ("gpurdma-throughput", "way", "method"),
    ("crossed", "crossing_KB", "inter_cluster_KB"),
    ("crossed", "least", "min"),
    ("crossed", "most", "max"),
    ("lanes", "lane_time_turning_us", "lane_time_reversing_us"),
    ("lanes", "turns", "reversals"),
    ("what-if", "turns", "reversals"),
    ("lanes", "returns", "restored_lanes"),
    ("what-if", "returns", "restored_lanes"),
    ("lanes", "published", "milic2017"),
    ("what-if", "published", "milic2017"),
    ("lanes", "published as", "name in the paper"),
    ("gpu-workloads", "right", "correct"),
    ("netcrafter", "right", "correct"),
    ("lanes", "right", "correct"),
)
#: Earlier values: present name of the column, then old and new values.
VALUES = {
    "backend": {
        "CPUs alone": "CPU only",
        "command processor": "ComP-Net",
        "host between kernels": "HDN",
        "lanes": "GPU-native",
        "host threads, APU": "GHN, APU",
        "host threads": "GHN",
        "host thread": "GHN",
        "queue between kernels": "GDS",
    },
    "policy": {"published": "milic2017"},
    "read": {"past L1": "bypass L1"},
}
