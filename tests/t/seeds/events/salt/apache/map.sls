{% set apache = salt['grains.filter_by']({
    'Debian': {'service': 'no-such-apache2'},
    'RedHat': {'service': 'no-such-httpd'},
}, default='Debian') %}
