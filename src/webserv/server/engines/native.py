"""The `native` engine: Linux namespaces, an overlay on the pool, bubblewrap; needs root.

A world is a network namespace. A clone is a process tree in namespaces of its own whose data folder is an overlay of
the snapshot. Nothing is mounted where the host could see it: when a clone's first process ends, the kernel takes its
other processes, its mounts and, with the last handle, its network away.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path

from webserv.errors import HostRefused
from webserv.server._linux.cgroups import (
    ControlGroup,
    Hierarchies,
    delete_group,
    list_owners,
    prove_limits,
)
from webserv.server._linux.namespaces import NetworkNamespace
from webserv.server._linux.processes import ProcessHandle
from webserv.server.engines import sandbox
from webserv.server.engines.interface import Engine, EngineInfo
from webserv.server.engines.sandboxed import prepare_boot, run_sandboxed, whole_or_undone
from webserv.server.site import Limits, split_origin
from webserv.server.snapshot import CLONE_UID, Snapshot
from webserv.server.start_modes.boot import wait_ready
from webserv.server.start_modes.zygote import Zygote, preloader_arguments, wait_status
from webserv.server.storage.interface import Layer
from webserv.server.world import Clone, World


@dataclass(frozen=True, slots=True)
class NamespaceTarget:
    """An address inside a world's network namespace."""

    namespace: NetworkNamespace
    address: tuple[str, int]

    def open_socket(self) -> socket.socket:
        """A socket born inside the namespace."""
        return self.namespace.open_socket()


class NativeEngine(Engine[NetworkNamespace]):
    """Makes worlds of namespaces and overlays."""

    def __init__(self) -> None:
        super().__init__()
        try:
            _refuse_separators(self.storage.info.root)
        except HostRefused:
            self._release()
            raise
        self._hierarchies, refusal = prove_limits(f"{self.owner.id}/trial")
        note = ""
        if refusal:
            note = f"memory, processes and CPU of clones are not limited: {refusal}"
        if self.storage.info.note:
            note = f"{note}; {self.storage.info.note}" if note else self.storage.info.note
        self.info = EngineInfo(
            name="native",
            isolates_network=True,
            isolates_processes=True,
            limits_resources=self._hierarchies.version > 0,
            start_modes=("zygote", "boot"),
            note=note,
        )

    def _make_place(self, undo: AsyncExitStack) -> NetworkNamespace:
        namespace = _new_namespace()
        undo.callback(namespace.close)
        return namespace

    async def _forget(self, world: World) -> None:
        await super()._forget(world)
        for clone in world.sites.values():
            assert isinstance(clone.target, NamespaceTarget)
            clone.target.namespace.close()

    async def _close_modes(self) -> None:
        await super()._close_modes()
        for group in list_owners().get(self.owner.id, []):
            delete_group(group)

    def _create_files(
        self, name: str, limits: Limits, undo: AsyncExitStack
    ) -> tuple[Layer, ControlGroup | None, Callable[[], Awaitable[None]]]:
        layer = self.storage.create_layer(self.owner.id, name, uid=CLONE_UID)
        undo.callback(self.storage.delete_layer, layer)
        group = _create_group(f"{self.owner.id}/{name}", limits, self._hierarchies)
        if group is not None:
            undo.callback(group.delete)

        async def delete() -> None:
            self.owner.log_path(name).unlink(missing_ok=True)
            if group is not None:
                await asyncio.to_thread(group.delete)
            await asyncio.to_thread(self.storage.delete_layer, layer)

        return layer, group, delete

    async def _start_by_zygote(
        self, name: str, snapshot: Snapshot, place: NetworkNamespace, undo: AsyncExitStack
    ) -> Clone:
        layer, group, delete = self._create_files(name, snapshot.site.limits, undo)
        target = NamespaceTarget(place, (sandbox.site_address(snapshot.site.name), _port(snapshot)))
        inside = f"{sandbox.CLONES}/{layer.folder.relative_to(self.storage.clones / self.owner.id)}"
        request = {
            "isolate": True,
            "hostname": snapshot.site.name,
            "data": sandbox.DATA,
            "uid": CLONE_UID,
            "overlay": {"upper": f"{inside}/upper", "work": f"{inside}/work", "hide": sandbox.CLONES},
        }
        log = self.owner.log_path(name)
        status_read, status_write = os.pipe()
        entries = group.open_entries() if group is not None else []
        # The socket listens before the clone exists: a connection made early waits in its backlog.
        with _listen(target) as listening, log.open("ab") as output:
            try:
                fds = [listening.fileno(), status_write, output.fileno(), place.fileno(), *entries]
                _, pidfd = await self._zygotes[snapshot.name].fork(request, fds)
            except BaseException:
                os.close(status_read)
                raise
            finally:
                for fd in (status_write, *entries):
                    os.close(fd)
        assert pidfd is not None
        process = ProcessHandle(pidfd)
        undo.push_async_callback(process.kill)
        await wait_status(status_read, snapshot.site.name)
        return Clone(
            snapshot=snapshot,
            start_mode="zygote",
            process=process,
            target=target,
            data=Path(sandbox.DATA),
            private_files=True,
            delete_files=delete,
            log=log,
        )

    async def _start_by_boot(
        self, name: str, snapshot: Snapshot, place: NetworkNamespace, undo: AsyncExitStack
    ) -> Clone:
        site = snapshot.site
        layer, group, delete = self._create_files(name, site.limits, undo)
        target = NamespaceTarget(place, (sandbox.site_address(site.name), _port(snapshot)))
        merged = layer.folder / "merged"
        merged.mkdir()
        values = {
            "data": sandbox.DATA,
            "image": str(snapshot.image),
            "address": target.address[0],
            "port": str(target.address[1]),
        }
        command = [part.format_map(values) for part in site.boot.command]
        environment = {key: value.format_map(values) for key, value in site.boot.environment.items()}
        drop = ["setpriv", f"--reuid={CLONE_UID}", f"--regid={CLONE_UID}", "--clear-groups", "--no-new-privs"]
        # A port below 1024 is bound without privileges: the namespace is this world's own.
        with place.entered():
            Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").write_text("0", encoding="ascii")
        log = self.owner.log_path(name)
        process = await whole_or_undone(
            run_sandboxed(
                snapshot,
                prefix=prepare_boot(
                    lower=snapshot.data(self.storage),
                    upper=layer.upper,
                    work=layer.work,
                    merged=merged,
                    namespace=place,
                    groups=group.folders if group is not None else (),
                ),
                command=[*drop, *command],
                environment=environment,
                binds=[("--bind", str(merged), sandbox.DATA)],
                owner=self.owner.id,
                log=log,
                new_network=False,
            )
        )
        undo.push_async_callback(process.kill)
        await wait_ready(site, target, process)
        return Clone(
            snapshot=snapshot,
            start_mode="boot",
            process=process,
            target=target,
            data=Path(sandbox.DATA),
            private_files=True,
            delete_files=delete,
            log=log,
        )

    async def _start_zygote(self, snapshot: Snapshot) -> Zygote:
        zygote = snapshot.site.zygote
        assert zygote is not None
        clones = self.storage.clones / self.owner.id
        clones.mkdir(parents=True, exist_ok=True)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, ExitStack() as undo:
            undo.callback(ours.close)
            arguments = preloader_arguments(zygote.adapter, theirs.fileno(), zygote.threads)
            app = snapshot.image / "app"
            process = await whole_or_undone(
                run_sandboxed(
                    snapshot,
                    prefix=[],
                    command=[str(snapshot.image / zygote.python), *arguments],
                    environment={"PYTHONPATH": f"{sandbox.LIBRARY}:{app}"} | zygote.environment,
                    binds=[
                        ("--ro-bind", str(snapshot.data(self.storage)), sandbox.DATA),
                        ("--bind", str(clones), sandbox.CLONES),
                    ],
                    owner=self.owner.id,
                    log=self._zygote_log(snapshot),
                    new_network=True,
                    pass_fds=[theirs.fileno()],
                )
            )
            undo.pop_all()
        parent = Zygote(snapshot.site.name, ours, process.kill, self._zygote_log(snapshot))
        try:
            await parent.wait_loaded()
        except BaseException:
            await parent.close()
            raise
        return parent


def _refuse_separators(root: Path) -> None:
    if any(character in str(root) for character in ",:\\'"):
        raise HostRefused(
            f"The pool's path '{root}' holds a comma, colon, quote or backslash, which overlayfs or a shell takes "
            "for a separator.",
            hint="Set WEBSERV_HOME or WEBSERV_POOL to another folder.",
        )


def _new_namespace() -> NetworkNamespace:
    try:
        return NetworkNamespace()
    except OSError as exc:
        raise HostRefused(
            f"No network namespace can be made: {exc.strerror}.", hint="Run 'webserv doctor'."
        ) from exc


def _create_group(name: str, limits: Limits, where: Hierarchies) -> ControlGroup | None:
    if where.version == 0:
        return None
    return ControlGroup(
        name, memory_bytes=limits.memory_bytes, pids=limits.pids, cpus=limits.cpus, where=where
    )


def _port(snapshot: Snapshot) -> int:
    return split_origin(snapshot.site.origins[0])[1]


def _listen(target: NamespaceTarget) -> socket.socket:
    sock = target.open_socket()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(target.address)
        sock.listen(128)
    except BaseException:
        sock.close()
        raise
    return sock
