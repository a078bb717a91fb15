"""`action_of`: the action in a model's completion."""

from __future__ import annotations

import re

_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[^\S\n]*([\w-]*)[^\S\n]*\n?(.*?)```", re.DOTALL)
_LABEL = re.compile(r"^[\s>*_#-]*action[\s*_]*:[\s*_]*(\S.*?)[\s*_]*$", re.IGNORECASE | re.MULTILINE)
_CALL = re.compile(r"^\s*`?([a-z_]+\(.*\))`?\s*[.;]?\s*$", re.MULTILINE)
_LONGEST = 20_000


def action_of(completion: str) -> str:
    """Takes the action out of `completion`.

    Looked for in this order, what a thinking model said to itself left out: the last fenced block that is not
    empty, the last line ``Action: …``, the last line that is a call. What has none of these is returned as it
    is: the environment answers it as malformed, and it costs a step.
    """
    answer = _THOUGHT.sub("", completion).strip()
    fenced = [
        # "```click("a")```" has no language; "```json\n{…}```" has one.
        (match[1] + match[2] if match[2].startswith("(") else match[2]).strip()
        for match in _FENCE.finditer(answer)
    ]
    fenced = [block for block in fenced if block]
    if fenced:
        return _unlabelled(fenced[-1])[:_LONGEST]
    labelled = _LABEL.findall(answer)
    if labelled:
        return str(labelled[-1]).strip("`")[:_LONGEST]
    calls = _CALL.findall(answer)
    if calls:
        return str(calls[-1])[:_LONGEST]
    return answer[:_LONGEST]


def _unlabelled(block: str) -> str:
    match = _LABEL.fullmatch(block)
    return match[1].strip("`") if match else block
