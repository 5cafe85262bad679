from dccgcn.cli import main

main()
