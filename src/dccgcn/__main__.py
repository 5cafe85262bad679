from dccgcn.cli import run_process

run_process()
