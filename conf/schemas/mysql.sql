-- Tables of the returner mysql in MySQL or MariaDB, as Salt has them: mariadb salt <mysql.sql
-- salt-follower adds halite_followers itself. utf8mb4 takes every character; Salt's own tables are utf8.
CREATE TABLE `jids` (
    `jid` varchar(255) NOT NULL,
    `load` mediumtext NOT NULL,
    UNIQUE KEY `jid` (`jid`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE `salt_returns` (
    `fun` varchar(50) NOT NULL,
    `jid` varchar(255) NOT NULL,
    `return` mediumtext NOT NULL,
    `id` varchar(255) NOT NULL,
    `success` varchar(10) NOT NULL,
    `full_ret` mediumtext NOT NULL,
    `alter_time` timestamp DEFAULT CURRENT_TIMESTAMP,
    KEY `id` (`id`),
    KEY `jid` (`jid`),
    KEY `fun` (`fun`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
CREATE TABLE `salt_events` (
    `id` bigint NOT NULL AUTO_INCREMENT,
    `tag` varchar(255) NOT NULL,
    `data` mediumtext NOT NULL,
    `alter_time` timestamp DEFAULT CURRENT_TIMESTAMP,
    `master_id` varchar(255) NOT NULL,
    PRIMARY KEY (`id`),
    KEY `tag` (`tag`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
