{% from "apache/map.sls" import apache with context %}

enable_apache:
  service.dead:
    - name: {{ apache.service }}
    - sig: no-such-program-of-apache
