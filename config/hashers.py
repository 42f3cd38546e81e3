"""How passwords are kept."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2id(Argon2PasswordHasher):
    """Argon2id with OWASP's minimum (Password Storage Cheat Sheet, 2024: 19 MiB, two passes, one lane).

    About 20 ms of one core, so that a class of fifty can sign in at once; Django's own setting takes 100 MiB and eight
    lanes for each log-in, its PBKDF2 ten times as long without being hard on memory.
    """

    time_cost, memory_cost, parallelism = 2, 19 * 1024, 1
