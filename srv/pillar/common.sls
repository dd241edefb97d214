owner: the operations team
hosts:
  web1: 192.0.2.11
  web2: 192.0.2.12
  db1: 192.0.2.21
