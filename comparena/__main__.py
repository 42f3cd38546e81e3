from comparena.command import main

main()
