"""Facts and ledgers of every shape, for laws that must hold for all of them."""

from hypothesis import strategies as st

from ddtree_doctor.facts.model import Engine, Facts, Gpu, Host, ModelConfig, Option, Package, Seam
from ddtree_doctor.launch.model import Flag, Launch, Location, Note
from ddtree_doctor.ledger import Buffer, Captured, Ledger, Row

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
INTS = st.integers(-(2**62), 2**62)
COUNTS = st.none() | st.integers(0, 2**31)
SHAPES = st.lists(st.integers(0, 2**31), max_size=3).map(tuple)
WORDS = st.lists(TEXT, max_size=3).map(tuple)
OPEN = st.recursive(
    st.none() | st.booleans() | INTS | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OPENS = st.dictionaries(TEXT, OPEN, max_size=3)

LOCATIONS = st.builds(Location, file=st.none() | TEXT, line=COUNTS)
NOTES = st.builds(Note, kind=TEXT, text=TEXT, location=LOCATIONS)
FLAGS = st.builds(Flag, option=TEXT, name=st.none() | TEXT, values=WORDS, location=LOCATIONS, unknown=TEXT)


def launches(intended):
    return st.builds(
        Launch,
        command=TEXT,
        entry=TEXT,
        location=LOCATIONS,
        flags=st.lists(FLAGS, max_size=3).map(tuple),
        environment=st.dictionaries(TEXT, TEXT, max_size=2),
        notes=st.lists(NOTES, max_size=2).map(tuple),
        unknown=st.dictionaries(TEXT, TEXT, max_size=2),
        intended=intended,
    )


LAUNCHES = launches(st.none() | launches(st.none()))
MODELS = st.builds(ModelConfig, name=TEXT, path=st.none() | TEXT, values=OPENS, unknown=TEXT)
GPUS = st.builds(
    Gpu, name=TEXT, capability=st.none() | st.tuples(st.integers(0, 99), st.integers(0, 9)), memory_mib=COUNTS
)
PACKAGES = st.builds(Package, name=TEXT, version=TEXT, archs=st.none() | WORDS)
HOSTS = st.builds(
    Host,
    python=TEXT,
    platform=TEXT,
    gpus=st.lists(GPUS, max_size=2).map(tuple),
    source=TEXT,
    driver=st.none() | TEXT,
    packages=st.dictionaries(TEXT, PACKAGES, max_size=2),
    unknown=st.dictionaries(TEXT, TEXT, max_size=2),
)
OPTIONS = st.builds(
    Option,
    name=TEXT,
    options=WORDS,
    type=TEXT,
    arity=TEXT,
    choices=st.none() | WORDS,
    default=OPEN,
    default_known=st.booleans(),
    deprecated=TEXT,
    line=COUNTS,
)
SEAMS = st.builds(Seam, name=TEXT, state=TEXT, file=st.none() | TEXT, line=COUNTS, detail=TEXT)
ENGINES = st.builds(
    Engine,
    version=st.none() | TEXT,
    root=st.none() | TEXT,
    fork=st.booleans(),
    layout=TEXT,
    algorithms=WORDS,
    plugins=WORDS,
    options=st.lists(OPTIONS, max_size=2).map(tuple),
    pins=st.dictionaries(TEXT, TEXT, max_size=2),
    seams=st.lists(SEAMS, max_size=2).map(tuple),
    mask_references=st.dictionaries(TEXT, st.integers(0, 99), max_size=2),
    traits=st.dictionaries(TEXT, OPEN | WORDS, max_size=3),
    digest=TEXT,
    unknown=TEXT,
)
BUFFERS = st.builds(Buffer, name=TEXT, shape=SHAPES, dtype=TEXT, bytes=INTS, owner=TEXT)
CAPTURED = st.builds(
    Captured,
    bs=INTS,
    tokens=INTS,
    key=TEXT,
    logits_rows=COUNTS,
    mask_numel=COUNTS,
    inputs=st.dictionaries(TEXT, SHAPES, max_size=2),
)
ROWS = st.builds(
    Row,
    algorithm=TEXT,
    role=TEXT,
    tokens_per_bs=COUNTS,
    capture_bs=SHAPES,
    inputs=OPENS,
    captured=st.lists(CAPTURED, max_size=2).map(tuple),
    buffers=st.lists(BUFFERS, max_size=2).map(tuple),
    unknown=TEXT,
)
LEDGERS = st.builds(
    Ledger,
    algorithm=TEXT,
    rows=st.lists(ROWS, max_size=2).map(tuple),
    substituted=WORDS,
    resolved=OPENS,
    sizes=OPENS,
    seconds=st.floats(0, 1e6),
    unknown=TEXT,
)
FACTS = st.builds(Facts, host=HOSTS, engine=ENGINES, launch=LAUNCHES, target=MODELS, draft=st.none() | MODELS)
