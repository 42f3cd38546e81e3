import os

# torch's threads sleep while they wait for each other: beside other processes, those that spin do a tenth of the work.
# Read when torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
