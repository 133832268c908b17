# SPDX-License-Identifier: Apache-2.0
"""The field's words: `words.py TREE` prints private words that came back into code or docs, and pages whose sentences
became longer; status 1 if any. `words.py TREE --tighten` lowers the numbers in standing.txt to what is left.

Each row names a private word by patterns, says what to write instead, and lists the uses of the same word that are
right, with the reason. Patterns tell the private use from the right one by form (an identifier, a phrase), so that no
file is left out. Uses in prose that still wait to be reworded are counted in standing.txt, and may only
become fewer."""

import collections
import pathlib
import re
import sys
from typing import NamedTuple

TOPS = ("models", "platform", "abi", "firmware", "python", "tests", "scripts", "examples", "cmake", "configs", "docs")
TEXTS = {".h", ".hpp", ".cpp", ".c", ".inc", ".S", ".ld", ".py", ".pyi", ".md", ".yaml", ".cmake", ".sh", ".txt"}
#: Files that exist to hold retired words: this table and its test, names of earlier versions, and what says so.
HOLDERS = re.compile(
    r"^tests/architecture/(words|self_check)\.py$|^tests/architecture/standing\.txt$|^docs/reference/glossary\.md$"
    r"|renamed|earlier"
)
STANDING = "tests/architecture/standing.txt"


class Use(NamedTuple):
    """A right use of a word that a row names: what covers a match lets it pass."""

    pattern: str
    reason: str
    example: str


class Row(NamedTuple):
    name: str
    write: str
    pattern: str
    planted: list[str]  # each one is a private use that must be found
    allowed: list[Use] = []
    stems: str = ""  # one of these is in each use, in small letters; none: it is not known


NODES = "of the nodes that work together"
ROWS = [
    Row(
        "most, least",
        "max_x, min_x",
        r"(?<![^\W_])(?:most|least|MOST|LEAST)_[A-Za-z]\w*|(?<=_)(?:most|least|MOST|LEAST)\b",
        ["most_bytes", "GPU_MOST_QUEUES", "least_lanes", "bytes_most"],
        [
            Use(r"\b(?:at|test)_(?:\w+_)?(?:least|most)\w*", "'at least' is English", "at_least = 4"),
            Use(r"(?<![^\W_])least_significant\w*", "the field's term", "least_significant_bit"),
            Use(r"(?<![^\W_])least_recently\w*", "the field's term: LRU", "least_recently_used"),
        ],
        stems="most_ _most least_ _least",
    ),
    Row(
        "meet",
        "barrier",
        r"(?<![^\W_])meet(?:_\w+)?\s*\(|(?<=\w_)meet\b|\bmeet_\w+|\b(?:nodes|ranks|lanes|harts|work-items"
        r"|all) meet(?! the)\b",
        ["meet(team)", "scheme_meet", "meet_all(w)", "all ranks meet here", "crew_meet"],
        [Use(r"\b(?:wires|links|streams|sums) meet\b", "things may meet in space", "where links meet")],
        stems="meet",
    ),
    Row(
        "say, hear, settle, letter, board",
        "notify, wait, flush, active message, notification array, coalesced requests",
        r"\b(?:pgas|rank|lane|team|world)_(?:say|hear|settle|letter|board|together)\w*|\b(?:say|hear)\s*\("
        r"|\bwaiting for letters\b|(?<!: )\b(?:[Aa]|of|with|no|next|its|the|another|in|whose|before"
        r"|wait for) letters?\b"
        r"(?= (?:of|that|have|has|come|find|are|to|from|in|have|behind|is)\b|;|,)",
        [
            "pgas_say(g)",
            "hear(rank)",
            "rank_letter",
            "letters of 64 bytes? no letters of 64",
            "pgas_settle",
            "pgas_board",
        ],
        [Use(r"\b(?:give|small|by) letters?\b", "letters of the alphabet", "give letters, digits and _")],
        stems="_say say( hear( _hear letter settle board together",
    ),
    Row(
        "patience",
        "timeout",
        r"(?<![^\W_])(?:im)?patien(?:ce|t|tly)\b",
        ["patience", "wait_patience", "out of patience"],
        stems="patien",
    ),
    Row(
        "answer",
        "response (fabric, caches), completion (PCIe, verbs)",
        r"(?:(?<=\w_)answers?\b|\b(?:m_answer\w*|answers?_\w+|on_answer\w*|answer_(?:packet|credits|time)\w*))\b"
        r"|\b(?:[Aa]n|[Nn]o|its|[Tt]he|each|every|first|last|late|whose|of|their|one|other|two|all|with) answers?\b",
        ["answer_packet", "m_answers", "the answer comes back", "late answers", "on_answer"],
        [
            Use(r"(?<![^\W_])the_answer\b", "not a message", "the_answer = 42"),
            Use(r"\banswered_\w+|\banswers?_to_(?:host|gdb)\b", "a verb", "answered_by"),
        ],
        stems="answer",
    ),
    Row(
        "past_l1, passing",
        "bypass",
        r"(?<![^\W_])past_(?:l1|l2|cache)\w*|\bpassing\s*\(|\bpass(?:es)?_(?:l1|l2|cache)\w*|\bpast (?:the )?L[12]\b",
        ["past_l1", "passing(line)", "reads past L1", "pass_l1"],
        stems="past pass_ passes_ passing",
    ),
    Row(
        "spoilt, damaged",
        "corrupted; poisoned once marked",
        r"(?<![^\W_])spoil(?:t|s|ed|ing)?(?:_\w+)?\b|(?<![^\W_])damaged?(?:_\w+)?\b",
        ["spoilt", "is_damaged", "a damaged packet", "spoil_link"],
        stems="spoil damage",
    ),
    Row(
        "turn",
        "reversible lanes, lane reversal; next_grant; make_response()",
        r"\b(?:m_)?(?:turning|turned|turns|turn)_(?:lanes?|links?|value|delay|time|policy)\w*|\bm_turns?\b"
        r"|\blanes? (?:that )?turn(?:s|ed|ing)?\b"
        r"|\bturn(?:ing|ed)? (?:a |the |of )?lanes?\b|(?:->|\.)turn\(\)|\bturnable\w*",
        ["lanes that turn", "turning lanes", "packet->turn()", "m_turn", "turn_lane(2)", "turn_time"],
        [
            Use(r"\b(?:in|by) turns?\b", "one after the other", "lanes in turn"),
            Use(r"\bmachine\.turn\(\)", "one turn of a loop that polls sockets", "machine.turn()"),
            Use(r"\bturn_(?:from_trap|to_pool)\b", "instructions that turn to something", "turn_to_pool"),
        ],
        stems="turn",
    ),
    Row(
        "pair",
        "duplex link; `qp`",
        r"\blink::pair\b|\bpair_of_lanes\b|\bm_pairs?\b|\bqueue_pairs?_(?:number|state|index)\b",
        ["link::pair", "m_pair", "pair_of_lanes", "queue_pair_number"],
        [
            Use(
                r"\b(?:rdma|gpurdma|compnet|compnet_apu)_pair\b",
                "names of shipped machines stay",
                "configs/rdma_pair.yaml",
            ),
            Use(r"\bstd::(?:make_)?pair\b", "C++", "std::pair<int, int>"),
            Use(r"\bconnect_pair\b", "two queue pairs of a test", "connect_pair(&a, &b)"),
        ],
        stems="pair",
    ),
    Row(
        "way",
        "route, direction, algorithm; `way` for caches only",
        r"\b(?:way_(?:there|back|out|of|to|at|row|home)|(?:nearest|other|both|one|shortest)_ways?|other_way)\b"
        r"|\bm_way\b|\bWAY_[A-Z]+\b"
        r"|\bways through (?:the )?(?:graph|network|fabric)\w*|\bways? (?:between|from) (?:nodes|GPUs|switches)\b",
        ["way_there", "other_way", "WAY_RING", "ways through graphs of switches", "m_way"],
        [
            Use(
                r"(?<![^\W_])under_way\b|\b(?:m_)?(?:\w+_)?locked_ways\b|\bmtt_ways\b|\bmax_ways\b",
                "ways of a cache, or 'under way'",
                "m_locked_ways",
            ),
            Use(r"\bway_at\b", "a way of a cache", "way_at(set, 3)"),
            Use(r"\bone_way\b", "the field's term: one-way latency", "one_way latency"),
        ],
        stems="way",
    ),
    Row(
        "piece",
        "transaction (of a coalesced access), segment, chunk",
        r"\b(?:m_pieces?\w*|pieces?_\w+|\w+_pieces?)\b(?<!in_pieces)|\b(?:struct|class) pieces?\b|\bpieces?(?:\["
        r"|->|\()",
        ["m_pieces[0]", "struct piece {", "piece_of(x)", "max_pieces ="],
        [Use(r"\bpieces? of \w+", "prose: a piece of something", "three pieces of text")],
        stems="piece",
    ),
    Row(
        "sends, receives, records, entry (HCA)",
        "send queue, receive queue, doorbell records, WQE, CQE, EQE",
        r"\b(?:class|struct) (?:sends|receives|records|entry|send_entry|receive_entry)\b(?! \w+;)|\bm_(?:sends"
        r"|receives)\b(?!;? //)"
        r"|\b(?:m_hca|hca|adapter|device|qp)\.(?:sends|receives|records)\b|\b(?:send|receive|completion"
        r"|event)_entr(?:y|ies)\b",
        ["class sends {", "m_receives", "hca.records", "send_entry", "completion_entries"],
        [Use(r"\bstruct entry\b", "an element of a table or queue, inside its class", "struct entry {")],
        stems="sends receives records entr",
    ),
    Row(
        "duty, served, taken, ended",
        "service descriptor, consumed (consumer index), retired",
        r"(?<![^\W_])dut(?:y|ies)(?:_\w+)?\b|\b(?:m_)?(?:served|taken|ended)_(?:index|count|number|up_to"
        r"|slots?)\b|\bservice_(?:taken|served)\b",
        ["duty", "network_duties", "served_index", "taken_up_to"],
        stems="duty duties served_ taken_ _taken ended_ _served",
    ),
    Row(
        "party, team, crew, world, scheme",
        "communicator, its members are ranks; backend for who performs the network",
        r"(?<![^\W_])(?:party|parties|crews?)(?:_\w+)?\b|(?<![^\W_])teams?(?:_\w+)?\b|\b(?:pgas|rdma"
        r"|comm)_(?:world|scheme|group)s?\b"
        r"|\bworld_(?:size|rank|of)\w*|\bschemes?_\w+|\bSCHEME_\w+|\bscheme=",
        ["party", "crew_size", "team_of(l)", "pgas_world", "SCHEME_RING", "scheme=0", "world_size"],
        [
            Use(r"\b[Tt]hird[- _]part(?:y|ies)\b", "foreign code", "third-party models"),
            Use(r"\bscheme=(?!\d)", "the guest option that names who performs the network", "scheme=compnet"),
            Use(r"\bMPI_COMM_WORLD\b|\bcomm_world\b", "MPI's name", "MPI_COMM_WORLD"),
        ],
        stems="part crew team world scheme _group",
    ),
    Row(
        "talker, greatest",
        "host endpoint; all-reduce (max)",
        r"(?<![^\W_])talkers?(?:_\w+)?\b|\b(?:\w+_)greatest(?:_\w+)?\b|\bgreatest_\w+|\bgreatest\s*\(",
        ["talker", "host_talker", "reduce_greatest", "greatest(values)"],
        stems="talker greatest",
    ),
    Row(
        "born, landing, flight, launch (requests)",
        "injected at, arrival, in-flight request, send",
        r"\b(?:m_)?born(?:_\w+)?\b|(?<![^\W_])landings?(?:_\w+)?\b|\b(?:struct|class) flight\b|\bm_flights?\b"
        r"|\bflights?_(?:of|to|at)\w*"
        r"|\blaunch_(?:packet|request|tlp|frame)\w*",
        ["born_at", "m_landing", "struct flight {", "m_flights", "launch_packet(p)"],
        [Use(r"\btime[- _]of[- _]flight\b", "the field's term", "time of flight")],
        stems="born landing flight launch_",
    ),
    Row(
        "give_up, forget, let go, lose",
        "abort or drain, clear, release, drop",
        r"(?<![^\W_])(?:give|gives|gave|given|giving)_up\w*|(?<![^\W_])forg[eo]ts?(?:_\w+|\s*\(\)|ten_\w+)"
        r"|(?<![^\W_])(?:let|lets)_go\w*|\blose_\w+|\blose\s*\("
        r"|\b(?:lets?|letting) go of\b|\bforgets?\b",
        [
            "give_up(x)",
            "m_gave_up",
            "forget()",
            "let_go(line)",
            "lose_credits(c)",
            "lets go of the line",
            "the cache forgets",
        ],
        [Use(r"\blose_credit\b", "a fault's name in configurations", "kind: lose_credit")],
        stems="_up forg let lose",
    ),
    Row(
        "score, tile (recordings)",
        "recording, replica",
        r"(?<![^\W_])scores?(?:_\w+)?\b|--tiles?\b|\b(?:recording|replay|m)_tiles?\b|\bsize of tiles\b"
        r"|\btiles? of (?:the|a) recording\b|\bother tiles\b",
        ["score", "gpu_score", "--tiles 4", "replay_tiles", "m_tiles"],
        [Use(r"\btiles? of \d+", "blocks of a matrix in a kernel", "tiles of 16×16")],
        stems="score tile",
    ),
    Row(
        "front, portion, share, news, trade",
        "host interface, rank's part, partition, control messages, exchange",
        r"\bm_front\b|\bfront_(?:end|interface|params|registers)\b|\b(?:gpu|host)_front\b|\bgpu\d*\.front\b"
        r"|(?<![^\W_])portions?(?:_\w+)?\b"
        r"|\b(?:m_)?my_share\b|\bshare_of_(?:rank|node)\w*|(?<![^\W_])news\b(?:_\w+)?|(?<![^\W_])trad(?:e|ed|es"
        r"|ing)(?:_\w+|\s*\(\)|\b)",
        ["m_front", "gpu0.front", "portion", "my_share", "m_news", "trade()"],
        [Use(r"\btrad(?:e|es|ing) (?:of|for|\w+ for|against)\b|\btrade-offs?\b", "the English verb", "a trade-off")],
        stems="front portion share news trad",
    ),
    Row(
        "storm, hostile, deaths (tests)",
        "stress, fuzz, failure",
        r"(?<![^\W_])hostile(?:_\w+)?\b|(?<![^\W_])deaths?(?:_\w+)?\b|\b(?<!cs_)storms\b|\b(?:netcrafter|fabric"
        r"|network|pcie|hca)_storms?\w*",
        ["hostile", "hca_hostile", "fabric_gpu_deaths", "storms", "netcrafter_storm"],
        [Use(r"\bcs_storm\w*", "a machine (Cray CS-Storm)", "configs/cs_storm.yaml")],
        stems="hostile death storm",
    ),
    Row(
        "misfit",
        "invalid parameter; rejected",
        r"(?<![^\W_])misfits?(?:_\w+)?\b|\brefuse_(?:at|if|unless)\w*",
        ["misfit", "misfits", "refuse_at(origin)"],
        stems="misfit refuse_",
    ),
    Row(
        "pictures, words, kept (Python)",
        "plots, labels, result cache",
        r"\b(?:from|import) (?:\.|fabricvp\.experiments\.)*\w*\.?(?:pictures|words|kept)\b|\b(?:lanes|common"
        r"|netcrafter|experiments)[./]words\b"
        r"|\bpictures(?:_\w+|\s*\()|\b_pictures?\b|--kept\b|\bkept_(?:results?|runs?|points?)\b",
        ["import pictures", "pictures(x)", "--kept", "kept_results", "_pictures"],
        stems="picture words kept",
    ),
    Row(
        "room, house",
        "module, architecture check",
        r"\btests/house\b|\bhouse[._]\w+|\bhouse (?:rules?|style|checks?)\b|\bstyle of the house\b|\b(?:own|each"
        r"|other|every) rooms?\b(?! for)"
        r"|\brooms (?:of|in) (?:the )?(?:tree|models)\b",
        ["tests/house", "house.files", "style of the house", "in its own room"],
        stems="room house",
    ),
    Row(
        "published (a policy's name)",
        "the paper's name: milic2017",
        r"\bpolicy: published\b|--(?:form|policy) published\b|LINK_PUBLISHED\b"
        r"|\bpolicy[\"']?\s*[:=]\s*[\"']published",
        ["policy: published", "--form published", "GPU_LINK_PUBLISHED"],
        stems="published",
    ),
    Row(
        "threads of the host, the host between kernels, packets of the queue",
        "GPU host networking (GHN); host-driven networking (HDN); GPUDirect Async (GDS)",
        r"\b[Tt]hreads? of (?:the|a) hosts?\b|\b[Hh]ost between kernels\b|\b[Pp]ackets of the queue\b(?! pair)"
        r"|\bqueue between kernels\b",
        ["threads of the host", "a thread of the host", "the host between kernels", "Packets of the queue"],
        stems="thread between packets",
    ),
    Row(
        "the network by the command processor, by lanes",
        "ComP-Net; GPU-native (GPUrdma)",
        r"\b[Nn]etwork by (?:the )?(?:command processors?|lanes)\b",
        ["the network by the command processor", "network by lanes"],
        stems="network",
    ),
    Row(
        "joules, dear, cheap",
        "energy, expensive, inexpensive",
        r"\bjoules_\w+|(?<=\w_)joules\b|\b(?:too|so|makes? \w+|very|are|is) (?:dear|cheap)\b|\b(?:dear"
        r"|cheap)(?:er|est)\b|\b(?:dear|cheap)\b",
        ["total_joules", "joules_of(gpu)", "that is dear", "cheaper"],
        [Use(r"\b[Ii]nexpensive\b", "the word to write", "inexpensive")],
        stems="joules dear cheap",
    ),
    Row(
        "persons",
        "the block that acts",
        r"\b(?:[Ww]ho(?:so)?ever|(?:[Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body|(?:[Ss]ome|[Aa]ny|[Ee]very)one|[Hh]imself)\b",
        ["whoever", "Nobody", "somebody", "everyone", "himself"],
        [Use(r"\bnobody cared\b", "a message of Linux", "irq 5: nobody cared")],
        stems="body ever one himself",
    ),
]
#: Earlier names of options stand where guests answer them, and in the tests of these answers.
EARLIER = re.compile(r'@renamed_arguments\(.*\)|\.old = "\w+"|^.*"[\w= ]+", "[\w= ]+(?: is now |: one of ).*$', re.M)
PATTERNS = [(row, re.compile(row.pattern), [re.compile(u.pattern) for u in row.allowed]) for row in ROWS]
#: The letters by which most texts are seen to have nothing of a row, at little expense.
STEMS = {row.name: row.stems.split() for row in ROWS}

LONG = 55  # words of a sentence
SENTENCES = "sentences of more than 55 words"


def texts(tree):
    """Every file whose words are checked, and its text."""
    places = [file for top in TOPS for file in sorted((tree / top).rglob("*"))]
    for file in [*places, *sorted(tree.glob("*.md"))]:
        path = file.relative_to(tree)
        if file.suffix not in TEXTS or {"__pycache__", "build", ".venv"} & set(path.parts) or not file.is_file():
            continue
        if not HOLDERS.search(path.as_posix()) and path.name != "CHANGELOG.md":
            yield path, file.read_text(encoding="utf-8")


def uses(text):
    """(row, line, words) of each private word in a text."""
    small = text.lower()
    for row, pattern, allowed in PATTERNS:
        if not any(stem in small for stem in STEMS[row.name]):
            continue
        spared = None
        for match in pattern.finditer(text):
            if spared is None:
                spared = [m.span() for a in (*allowed, EARLIER) for m in a.finditer(text)]
            if not any(start < match.end() and match.start() < end for start, end in spared):
                yield row, text.count("\n", 0, match.start()) + 1, match[0]


def long_sentences(text):
    """(line, number of words) of each sentence of a page that is too long. Code, tables and headings have none."""
    text = re.sub(r"^```.*?^```[^\n]*$", lambda m: "\n" * m[0].count("\n"), text, flags=re.S | re.M)
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("|", "#", "<", "    ")):
            continue
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", line))
        for sentence in re.split(r"(?<=[.!?:])\**\s+(?=[\[*`(A-Z])", plain):
            words = len(re.findall(r"[^\W_][\w'’.-]*", sentence))
            if words > LONG:
                yield number, words


def standing(tree):
    """How many uses of each row are known to stand."""
    file = tree / STANDING
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {name: int(number) for number, name in (line.split(None, 1) for line in lines if line[:1].isdigit())}


def found(tree):
    """Row -> lines that report a use."""
    counted = collections.defaultdict(list)
    for path, text in texts(tree):
        for row, line, words in uses(text):
            counted[row.name].append(f"{path}:{line}: '{words}': write {row.write}")
        if path.parts[0] == "docs" and path.suffix == ".md":
            for line, words in long_sentences(text):
                counted[SENTENCES].append(f"{path}:{line}: a sentence of {words} words; at most {LONG}")
    return counted


def violations(tree):
    known = standing(tree)
    for name, lines in found(tree).items():
        if len(lines) > known.get(name, 0):
            if known.get(name):
                yield f"{STANDING}: {len(lines)} of '{name}', {known[name]} are known to stand; one of these is new:"
            yield from lines


def tighten(tree):
    counted = {name: len(lines) for name, lines in found(tree).items()}
    names = [row.name for row in ROWS] + [SENTENCES]
    text = "".join(f"{counted[name]} {name}\n" for name in names if counted.get(name))
    head = (
        "# Private words that prose still has, by row of words.py: may only become fewer (words.py TREE --tighten).\n"
    )
    (tree / STANDING).write_text(head + text, encoding="utf-8")


def main():
    tree = pathlib.Path(sys.argv[1])
    if "--tighten" in sys.argv[2:]:
        tighten(tree)
    lines = list(violations(tree))
    print("\n".join(lines) or "code and docs use the field's words")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
