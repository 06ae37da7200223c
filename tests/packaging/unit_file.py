# SPDX-License-Identifier: Apache-2.0
"""Reads the unit file of a service, as far as Holdfast's own uses the syntax."""
import shlex

# What systemd does with these is not repeated by sandbox.py, and why the test can do without.
NOT_REPEATED = {
    "ExecReload": "tests/server sends SIGHUP",
    "Restart": "the service must not fail",
    "RestartSec": "the service must not fail",
    "MemoryMax": "needs a cgroup",
    "TasksMax": "needs a cgroup",
    "AmbientCapabilities": "none are given",
    "ProtectClock": "takes only capabilities, devices and system calls, of which nothing is left",
    "ProtectHostname": "likewise",
    "ProtectKernelLogs": "likewise",
    "ProtectKernelModules": "likewise",
    "ProtectControlGroups": "there is no /sys in the test at all",
    "RestrictNamespaces": "needs capabilities, of which nothing is left",
    "RestrictRealtime": "needs capabilities, of which nothing is left",
    "RestrictSUIDSGID": "the program changes no such bits",
    "LockPersonality": "the program has no other personality",
    "RemoveIPC": "only about what is left behind",
    "SystemCallArchitectures": "the program is native",
    "SystemCallErrorNumber": "sandbox.py knows EPERM alone",
}
REPEATED = {
    "Type", "ExecStart", "Environment", "TimeoutStopSec", "User", "Group", "UMask",
    "StateDirectory", "StateDirectoryMode", "RuntimeDirectory", "RuntimeDirectoryMode",
    "LogsDirectory", "LogsDirectoryMode", "ConfigurationDirectory", "ConfigurationDirectoryMode",
    "LimitNOFILE", "LimitCORE", "NoNewPrivileges", "CapabilityBoundingSet", "ProtectSystem",
    "ProtectHome", "PrivateTmp", "PrivateDevices", "ProtectKernelTunables", "ProtectProc",
    "ProcSubset", "RestrictAddressFamilies", "MemoryDenyWriteExecute", "SystemCallFilter",
}


class Unit:
    """The section [Service]: for each key the values of its lines, from the last empty one on."""

    def __init__(self, text, more=()):
        self.values = {}
        section = ""
        for line in text.replace("\\\n", " ").splitlines():
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and line and line[0] not in "#;":
                self._put(line)
        for line in more:
            self._put(line)
        unknown = set(self.values) - REPEATED - set(NOT_REPEATED)
        if unknown:
            raise SystemExit(f"the test does not know what systemd does with {sorted(unknown)}: "
                             "teach it to sandbox.py, or say in unit_file.py why it need not")

    def _put(self, line):
        key, value = (part.strip() for part in line.split("=", 1))
        if "%" in value:
            raise SystemExit(f"{key}: specifiers are not understood here")
        if value:
            self.values.setdefault(key, []).append(value)
        else:
            self.values[key] = []

    def has(self, key):
        return key in self.values

    def last(self, key, default=None):
        return self.values.get(key, [default])[-1] if self.values.get(key) else default

    def is_on(self, key):
        return self.last(key, "no") in ("yes", "true", "on", "1")

    def words(self, key):
        return [word for value in self.values.get(key, []) for word in shlex.split(value)]

    def command(self):
        (line,) = self.values["ExecStart"]
        return shlex.split(line)

    def environment(self):
        return dict(word.split("=", 1) for word in self.words("Environment"))

    def folders(self):
        """(path, mode, belongs to the service's user) of each folder that systemd makes."""
        for kind, above, is_its_own in (("State", "/var/lib", True), ("Runtime", "/run", True),
                                        ("Logs", "/var/log", True), ("Configuration", "/etc", False)):
            mode = int(self.last(kind + "DirectoryMode", "0755"), 8)
            for name in self.words(kind + "Directory"):
                yield f"{above}/{name}", mode, is_its_own
