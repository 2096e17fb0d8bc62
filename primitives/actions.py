"""Numbers that the kernels of every embodied world share: actions, attempt rows, parts.

`worlds.api` gives them their public names.
"""

STAY = 0
NO_TASK = -1
NO_ATTEMPT = -1

# Columns of an attempt row.
TASK = 0
NEED = 1
PARTICIPATION = 2
SPATIAL = 3
TEMPORAL = 4
DEPENDENCY = 5
DEPENDENCY_NEED = 6
MEMBERS = 7
IN_PLACE = 8
RESULT = 9
REASON = 10
COMMON_COLUMNS = 11

# Values of the column RESULT.
RESULT_NONE = 0
RESULT_SHORT = 1
RESULT_BLOCKED = 2
RESULT_DONE = 3
RESULT_DELIVERED = 4

# Bits of `agent_part`.
NEAR = 1
TRYING = 2
CAPABLE = 4
ACTING = 8
CREDITED = 16
