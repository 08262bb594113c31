"""What was measured of a job, as its pages show it: vertices, watermarks, latency, flame graphs.
Each property is one query, made when a template asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from dashboard import flame, graph, holding, vertexview
from dashboard.checkpoints import Filter
from dashboard.vertexview import OperatorRow, Spread, VertexView
from jobs import diagnostics, figures, vertices
from jobs.models import Diagnosis, Job, JobFigures, Slot


class Measured:
    """`chosen` is what a page of history shows: rows older than an id only, or of one kind."""

    def __init__(self, job: Job, now: datetime, chosen: Filter | None = None) -> None:
        self.job = job
        self.now = now
        self.chosen = chosen or Filter()
        self.before = self.chosen.before

    @cached_property
    def slots(self) -> list[Slot]:
        return list(self.job.slots.select_related("taskmanager"))

    # --- its vertices ----------------------------------------------------------------------

    @cached_property
    def vertices(self) -> dict[str, VertexView]:
        """In the order of the graph, by id."""
        known = figures.of_vertices(self.job)
        seats = self.slots
        return {
            each.id: VertexView(each, known.get(each.id, []), seats)
            for each in vertices.of(self.job.plan or {})
        }

    @property
    def graph(self) -> graph.Graph:
        return graph.of_vertices(self.vertices.values())

    @cached_property
    def measured_at(self) -> datetime | None:
        """When the figures of its vertices were measured."""
        return JobFigures.objects.filter(pk=self.job.pk).values_list("at", flat=True).first()

    def operator_figures(self, vertex_id: str) -> list[dict[str, float]]:
        return figures.of_operators(self.job, vertex_id)

    def operators(self, vertex: VertexView) -> list[OperatorRow]:
        """A vertex's operators with the sums of what their subtasks have counted."""
        rows = self.operator_figures(vertex.id)
        return [vertexview.operator_row(each, rows) for each in vertex.vertex.operators]

    def way(self, vertex: VertexView) -> list[holding.Step]:
        """What holds the vertex's watermark back."""
        marks = {
            each.id: [row.get("currentInputWatermark") for row in each.figures]
            for each in self.vertices.values()
        }
        known = {each.id: each.vertex for each in self.vertices.values()}
        return holding.way(vertex.vertex, known, marks)

    @cached_property
    def watermarks(self) -> Mapping[str, Mapping[str, Any]]:
        """Operator's id -> what its driver says of its watermark."""
        return figures.watermarks(self.job)

    @cached_property
    def latencies(self) -> list[dict[str, Any]]:
        """A histogram for each pair of source and sink, with the operators' names."""
        names = {
            operator.id: operator.name
            for each in self.vertices.values()
            for operator in each.vertex.operators
        }
        return [
            {
                **each,
                "source_name": names.get(each.get("source", ""), "all sources"),
                "sink_name": names.get(each.get("sink", ""), "all sinks"),
            }
            for each in figures.latency(self.job)
        ]

    @cached_property
    def job_figures(self) -> list[tuple[str, float | str]]:
        """Of the job as a whole, by name."""
        return sorted(figures.of_job(self.job).items())

    def spreads(self, vertex: VertexView) -> list[Spread]:
        """Every metric of a vertex and of its operators, over its subtasks."""
        return [*vertex.spreads, *vertexview.spreads(self.operator_figures(vertex.id))]

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """The flame graph asked for last, answered or not."""
        rows = Diagnosis.objects.filter(attempt__job=self.job, kind=Diagnosis.Kind.FLAME_GRAPH)
        return rows.select_related("attempt").first()

    @property
    def flame_kind(self) -> str:
        known = self.chosen.type in diagnostics.TYPES
        return self.chosen.type if known else diagnostics.FULL

    @cached_property
    def flame(self) -> flame.Flame | None:
        """The last flame graph that there is, and when it is of: `flame_row`."""
        tree = diagnostics.tree(self.flame_row, self.flame_kind) if self.flame_row else None
        return flame.draw(tree, self.chosen.at) if tree else None

    @cached_property
    def flame_row(self) -> Diagnosis | None:
        return diagnostics.newest_of_job(self.job, Diagnosis.Kind.FLAME_GRAPH)

    @property
    def flame_waits(self) -> bool:
        return self.diagnosis is not None and diagnostics.is_pending(self.diagnosis)

    @property
    def flame_error(self) -> str:
        return diagnostics.error_of(self.diagnosis) if self.diagnosis is not None else ""

    def accumulators(self, vertex_id: str | None = None) -> list[dict[str, str]]:
        return figures.accumulators(self.job, vertex_id)
