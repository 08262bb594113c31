"""What can be said of an operator of the graph, whether a stream or a sink follows it."""

from __future__ import annotations

from typing import Self

from headrace.datastream.slot_sharing_group import SlotSharingGroup
from headrace.runtime.transformations import Transformation


class NodeSettings:
    """`_node` is the node of the stream graph that the settings are of."""

    @property
    def _node(self) -> Transformation:
        raise NotImplementedError

    def name(self, name: str) -> Self:
        """What plans, metrics and errors call the operator."""
        self._node.name = name
        return self

    def get_name(self) -> str:
        return self._node.name

    def uid(self, uid: str) -> Self:
        """What the operator's state is found by after a change of the program."""
        self._node.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """As `uid`: here the operator's state is kept under the hash itself."""
        if len(uid_hash) != 32 or not set(uid_hash.lower()) <= set("0123456789abcdef"):
            raise ValueError(f"a uid hash has 32 hexadecimal digits, not {uid_hash!r}")
        return self.uid(uid_hash)

    def set_parallelism(self, parallelism: int) -> Self:
        """A hint that the plan shows: on Spark the stages of a job share its slots. Functions and
        partitioners see the job's parallelism."""
        self._node.parallelism = positive(parallelism)
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """The number of key groups is the job's own: one exchange has as many as the other. Set
        for an operator it is shown in the plan; set on the environment it counts."""
        self._node.max_parallelism = positive(max_parallelism)
        return self

    def force_non_parallel(self) -> Self:
        return self.set_parallelism(1)

    def set_description(self, description: str) -> Self:
        """What the plan shows as the operator's contents."""
        self._node.description = description
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Without effect: records travel in micro-batches, at the checkpoint's interval."""
        if timeout_millis < -1:
            raise ValueError(f"the buffer timeout must be -1 or more, not {timeout_millis}")
        return self

    def start_new_chain(self) -> Self:
        """Shown in the plan: stateless operators of a stage run in one task all the same."""
        self._node.chaining = "HEAD"
        return self

    def disable_chaining(self) -> Self:
        """Shown in the plan, as `start_new_chain`."""
        self._node.chaining = "NEVER"
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Shown in the plan: all stages of a job share its slots."""
        given = slot_sharing_group
        self._node.slot_sharing_group = given if isinstance(given, str) else given.get_name()
        return self


def positive(parallelism: int) -> int:
    if parallelism < 1:
        raise ValueError(f"parallelism must be positive, not {parallelism}")
    return parallelism
