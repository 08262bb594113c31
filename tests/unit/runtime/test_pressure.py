"""What subtasks did with the time of a batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment
from headrace.runtime.measuring.counts import REST, Part
from headrace.runtime.measuring.pressure import Batch, Spent, spent
from headrace.runtime.measuring.shape import Shape

BEGUN, TOOK = 1_000_000, 1_000


def _shape() -> Shape:
    """Three vertices of two subtasks: a source, a sum, and a sum of sums with its sink."""
    settings = Configuration({"headrace.executor": "in-process"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2).set_max_parallelism(8)
    first = env.from_collection([0]).key_by(lambda value: value).reduce(lambda a, b: a + b)
    first.key_by(lambda value: value % 2).reduce(lambda a, b: a + b).print()
    return Shape(env.compile("pressure"))


SHAPE = _shape()
SOURCE, FIRST, SECOND = SHAPE.vertices


def part(stage: int, subtask: int, seconds: float, begun: int = 0, ended: int = TOOK) -> Part:
    """Of the head of the stage's vertex."""
    head = next(v for v in SHAPE.vertices.values() if v.stage == stage).head
    nodes = {REST: [0, 0, 0.0, 0, 0], head: [1, 1, seconds, 0, 0]}
    return Part(stage, subtask, BEGUN + begun, BEGUN + ended, nodes, {}, {}, {}, {}, {})


def found(*parts: Part, behind: bool = True) -> dict[tuple[str, int], Spent]:
    return spent(SHAPE, Batch(BEGUN, TOOK, behind), parts)


def test_the_slowest_vertex_holds_back_what_leads_to_it_and_nothing_else() -> None:
    told = found(
        part(0, 0, 0.1, begun=50, ended=150),
        part(1, 0, 0.1, begun=150, ended=250),
        part(2, 0, 0.6, begun=250, ended=850),
    )
    source, first, second = (told[vertex, 0] for vertex in (SOURCE, FIRST, SECOND))
    assert (source.busy, source.soft, source.hard) == pytest.approx((100, 700, 200))
    assert (first.busy, first.soft, first.hard) == pytest.approx((100, 600, 200))
    assert (second.busy, second.soft, second.hard) == pytest.approx((600, 0, 0))
    assert told[SOURCE, 1].busy == 0


def test_a_subtask_with_more_to_do_is_busy_for_longer() -> None:
    told = found(part(1, 0, 0.4, ended=800), part(1, 1, 0.1, ended=800), behind=False)
    assert told[FIRST, 0].busy == pytest.approx(800)  # Spark took the other half
    assert told[FIRST, 1].busy == pytest.approx(200)


def test_a_job_that_keeps_up_is_idle_for_the_rest() -> None:
    told = found(part(0, 0, 0.1), part(1, 0, 0.9), behind=False)
    assert all(one.soft == one.hard == 0 for one in told.values())


def test_a_batch_without_work_holds_nobody_back() -> None:
    assert all(one == Spent() for one in found().values())


@given(
    st.lists(
        st.builds(
            part,
            st.integers(0, 2),
            st.integers(0, 5),
            st.floats(0, 5),
            st.integers(0, TOOK),
            st.integers(0, 3 * TOOK),
        ),
        max_size=8,
    ),
    st.booleans(),
)
def test_nobody_spends_more_than_the_batch_lasts(parts: list[Part], behind: bool) -> None:
    for one in found(*parts, behind=behind).values():
        assert min(one.busy, one.soft, one.hard) >= 0
        assert one.busy + one.soft + one.hard <= TOOK + 1e-6
